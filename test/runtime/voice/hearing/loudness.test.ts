import { expect, it } from 'vitest';
import { createLoudness, rmsOf } from '../../../../src/runtime/voice/hearing/loudness.ts';

const tone = (amplitude: number, offset: number) =>
  Float32Array.from({ length: 512 }, (_, i) => offset + amplitude * Math.sin((2 * Math.PI * 8 * i) / 512));

it('a constant offset is no loudness: quiet speech on a cheap sound card stays speech above silence', () => {
  expect(rmsOf(tone(0.1, 0))).toBeCloseTo(0.0707, 3);
  expect(rmsOf(tone(0.1, 0.2))).toBeCloseTo(0.0707, 3);
  expect(rmsOf(tone(0, 0.2))).toBeCloseTo(0, 6);
  expect(rmsOf(new Float32Array(0))).toBe(0);
  const loudness = createLoudness();
  for (let i = 0; i < 9; i += 1) loudness.add(rmsOf(tone(0.001, 0.2)));
  loudness.add(rmsOf(tone(0.1, 0.2)));
  loudness.voiced(rmsOf(tone(0.1, 0.2)));
  expect((loudness.level() ?? 0) - (loudness.floor() ?? 0)).toBeGreaterThan(30);
});
