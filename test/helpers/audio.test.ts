import { expect, it } from 'vitest';
import { alike, broken, clipped, find, join, mix, noise, peak, pieces, rms, silence, tone, wav } from './audio.ts';

it('computed sound is what it says: levels, echoes, faults and cuts', () => {
  expect(rms(tone(440, 1_000))).toBeCloseTo(0.5 / Math.SQRT2, 3);
  expect(20 * Math.log10(rms(noise(-40, 1_000)))).toBeCloseTo(-40, 0);
  expect(noise(-40, 100)).toEqual(noise(-40, 100));
  expect(Math.abs(alike(noise(-40, 100), noise(-40, 100, 16_000, 2)))).toBeLessThan(0.1);
  const word = tone(700, 100);
  // An echo of −10 dB, 120 ms later.
  const heard = mix(join(word, silence(400)), word, 120, 10 ** (-10 / 20));
  expect(rms(heard.subarray(120 * 16, 220 * 16)) / rms(word)).toBeCloseTo(0.316, 2);
  expect(find(word, heard.subarray(1_700)).at).toBe(120 * 16 - 1_700);
  expect(peak(clipped(word, 10))).toBe(1);
  expect(broken(silence(1), 4)).toEqual(Float32Array.of(Number.NaN, 0, 0, 0, Infinity, 0, 0, 0, -Infinity, 0, 0, 0, Number.NaN, 0, 0, 0));
  expect(pieces(word, 160, 441).map(({ length }) => length)).toEqual([160, 441, 160, 441, 160, 238]);
  expect(join(...pieces(word, 7))).toEqual(word);
  expect(wav(Float32Array.of(0, 1, -1), 16_000).subarray(44)).toEqual(Uint8Array.of(0, 0, 0xff, 0x7f, 0x01, 0x80));
});
