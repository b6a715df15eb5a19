import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createResampler, resample } from '../../../src/shared/util/resampler.ts';
import { alike, chirp, join, offset, peak, pieces, rms, silence, tone } from '../../helpers/audio.ts';

const rates = [8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000, 192_000];
const middle = (pcm: Float32Array) => pcm.subarray(800, pcm.length - 800);

describe('resampling', () => {
  it('a tone keeps its pitch, level and place, from every rate', () => {
    for (const rate of rates) {
      const out = resample(tone(1_000, 500, rate), rate, 16_000);
      expect(out.length, `${rate}`).toBe(Math.ceil((Math.round(rate / 2) * 16_000) / rate));
      const wanted = tone(1_000, 501);
      // Sample by sample: a shift of half a sample at 16 kHz would already show as 0.1.
      expect(peak(middle(out.map((x, i) => x - (wanted[i] ?? 0)))), `${rate}`).toBeLessThan(2e-4);
    }
  });

  it('what the new rate cannot hold is taken out, not folded down', () => {
    for (const hz of [9_500, 12_000, 15_000, 20_000])
      expect(rms(middle(resample(tone(hz, 500, 48_000), 48_000, 16_000)))).toBeLessThan(1e-4);
    expect(peak(middle(resample(offset(silence(500, 44_100), 0.2), 44_100, 16_000).map((x) => x - 0.2)))).toBeLessThan(1e-3);
  });

  it('BC-20: the cut does not matter, and the length is exact', () => {
    const whole = chirp(100, 3_000, 300, 44_100);
    const wanted = resample(whole, 44_100, 16_000);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1_200 }), { minLength: 1, maxLength: 6 }), (sizes) => {
        const stream = createResampler(44_100, 16_000);
        const out = join(...pieces(whole, ...sizes).map((piece) => stream.push(piece)), stream.flush());
        expect(out).toEqual(wanted);
      }),
      { numRuns: 30 },
    );
    for (const [from, to] of [
      [44_100, 16_000],
      [16_000, 48_000],
      [22_050, 48_000],
    ] as const)
      for (const n of [0, 1, 2, 127, 512]) expect(resample(new Float32Array(n), from, to).length).toBe(Math.ceil((n * to) / from));
  });

  it('after a flush it begins anew', () => {
    const stream = createResampler(24_000, 48_000);
    const once = () => join(stream.push(chirp(200, 2_000, 100, 24_000)), stream.flush());
    expect(once()).toEqual(once());
  });

  it('up and down again is the same sound', () => {
    const voice = chirp(80, 6_000, 400, 16_000);
    const back = resample(resample(voice, 16_000, 48_000), 48_000, 16_000);
    expect(back.length).toBe(voice.length);
    expect(alike(back, voice)).toBeGreaterThan(0.9999);
  });
});
