// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { makeTone } from '../../../src/renderer/audio/tones.ts';
import { peak } from '../../helpers/audio.ts';

describe('the tones of the page', () => {
  it('begin and end without a click, are quieter than speech, and differ from one another', () => {
    const made = (['listening', 'off', 'failed', 'slow'] as const).map((kind) => makeTone(kind, 48_000));
    for (const pcm of made) {
      expect(Math.abs(pcm[0] ?? 1)).toBeLessThan(0.001);
      expect(Math.abs(pcm.at(-1) ?? 1)).toBeLessThan(0.001);
      expect(peak(pcm)).toBeGreaterThan(0.03);
      expect(peak(pcm)).toBeLessThan(0.2);
      expect(pcm.every(Number.isFinite)).toBe(true);
      expect(pcm.length).toBeLessThan(0.4 * 48_000);
    }
    expect(new Set(made.map((pcm) => pcm.slice(0, 20_000).join())).size).toBe(4);
  });
});
