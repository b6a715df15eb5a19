import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIntake } from '../../../src/runtime/speech/intake.ts';
import { FLOAT, PCM, type PcmFormat, toPcm16 } from '../../../src/runtime/speech/pcm.ts';
import { resample } from '../../../src/shared/util/resampler.ts';
import { alike, broken, chirp, join } from '../../helpers/audio.ts';
import { verifies } from '../../helpers/verifies.ts';

const pcm16 = (sampleRate: number, channels = 1): PcmFormat => ({ code: PCM, channels, sampleRate, bits: 16 });

/** All frames of some bytes that come in pieces of these sizes, in turn. */
function framesOf(format: PcmFormat, bytes: Uint8Array, ...sizes: readonly number[]) {
  const intake = createIntake(format);
  const frames = [];
  for (let at = 0, i = 0; at < bytes.length; i += 1) {
    const size = sizes[i % sizes.length] ?? bytes.length;
    frames.push(...intake.push(bytes.subarray(at, at + size)));
    at += size;
  }
  frames.push(...intake.end());
  return { frames, repaired: intake.repaired() };
}

const said = chirp(200, 3_000, 1_000);

describe('sound from anywhere becomes frames', () => {
  // The bug: a reader that drops the odd byte shifts all that follows by half a sample, which is noise at full loudness.
  it('BC-21: pieces of 1,025 bytes and a buffer at an odd place give what even pieces give, without a click', () => {
    verifies('BC-21');
    const bytes = toPcm16(said);
    const even = framesOf(pcm16(16_000), bytes, 1_024).frames;
    expect(framesOf(pcm16(16_000), bytes, 1_025).frames).toEqual(even);
    const shifted = new Uint8Array(bytes.length + 1);
    shifted.set(bytes, 1);
    expect(framesOf(pcm16(16_000), shifted.subarray(1), 1_025).frames).toEqual(even);
    const whole = join(...even);
    // A click is a step that the sound itself never makes: 3 kHz at half loudness rises by 0.55 a sample at most.
    const steps = whole.subarray(0, 16_000).map((x, i, all) => Math.abs(x - (all[i - 1] ?? x)));
    expect(Math.max(...steps)).toBeLessThan(0.6);
    expect(alike(whole.subarray(0, 16_000), said)).toBeGreaterThan(0.9999);
  });

  it('VO-85: any rate from 8 to 48 kHz, one channel or two, in pieces of any size: the same frames, bit by bit', () => {
    verifies('VO-85');
    for (const rate of [8_000, 11_025, 22_050, 44_100, 48_000]) {
      for (const channels of [1, 2]) {
        const mono = resample(said, 16_000, rate);
        const both = Float32Array.from({ length: mono.length * channels }, (_, i) => mono[Math.floor(i / channels)] ?? 0);
        const bytes = toPcm16(both);
        const { frames } = framesOf(pcm16(rate, channels), bytes, bytes.length);
        for (const frame of frames) expect(frame.length).toBe(512);
        expect(frames.length).toBe(Math.ceil(said.length / 512));
        expect(alike(join(...frames).subarray(512, 15_000), said.subarray(512, 15_000)), `${rate}`).toBeGreaterThan(0.98);
        fc.assert(
          fc.property(fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 6 }), (sizes) => {
            expect(framesOf(pcm16(rate, channels), bytes, ...sizes).frames).toEqual(frames);
          }),
          { numRuns: 8 },
        );
      }
    }
  });

  it('what is no number is silence and counted, what is left of a sample at the end is left out', () => {
    const bytes = new Uint8Array(broken(said, 100).buffer);
    const float: PcmFormat = { code: FLOAT, channels: 1, sampleRate: 16_000, bits: 32 };
    const { frames, repaired } = framesOf(float, bytes, 1_023);
    expect(repaired).toBe(160);
    for (const sample of join(...frames)) expect(Math.abs(sample)).toBeLessThanOrEqual(1);
    expect(framesOf(pcm16(16_000), new Uint8Array(1_025), 7).frames).toHaveLength(1);
    expect(framesOf(pcm16(16_000), new Uint8Array(1), 7).frames).toEqual([]);
  });
});
