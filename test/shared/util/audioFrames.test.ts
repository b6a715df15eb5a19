import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AudioFrame, audio } from '../../../src/shared/domain/audio.ts';
import { createFrameMender, createFrameQueue } from '../../../src/shared/util/audioFrames.ts';
import { verifies } from '../../helpers/verifies.ts';

const frame = (seq: number): AudioFrame => ({
  seq,
  captureMs: seq * 32,
  clipped: false,
  zero: false,
  gap: false,
  samples: new Float32Array(audio.frameSamples).fill(0.5),
});

describe('frames on their way', () => {
  it('VO-02: more than 64 wait: the oldest go first, and the receiver gets silence in their place, so that time stays true', () => {
    verifies('VO-02');
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 150 }), { minLength: 1, maxLength: 6 }), (bursts) => {
        const queue = createFrameQueue();
        const mender = createFrameMender(120_000);
        let seq = 0;
        const heard: AudioFrame[] = mender.accept(frame(seq));
        // The link stands still while a burst of frames comes, and then takes all that waits.
        for (const burst of bursts) {
          for (let i = 0; i < burst; i += 1) queue.push(frame((seq += 1)));
          expect(queue.waiting()).toBe(Math.min(burst, audio.waitingFrames));
          for (let next = queue.take(); next !== undefined; next = queue.take()) heard.push(...mender.accept(next));
        }
        expect(heard.map((one) => one.seq)).toEqual(Array.from({ length: seq + 1 }, (_, i) => i));
        expect(heard.map((one) => one.captureMs)).toEqual(Array.from({ length: seq + 1 }, (_, i) => i * 32));
        expect(mender.counts()).toEqual({ filled: queue.dropped(), stale: 0, jumps: 0 });
        expect(heard.filter((one) => one.gap && one.zero && one.samples.every((x) => x === 0)).length).toBe(queue.dropped());
      }),
    );
  });

  it('a frame that comes twice or late is dropped, and a number out of nowhere makes no hours of silence', () => {
    const mender = createFrameMender(120_000);
    expect(mender.accept(frame(5)).map(({ seq }) => seq)).toEqual([5]);
    expect(mender.accept(frame(5))).toEqual([]);
    expect(mender.accept(frame(3))).toEqual([]);
    expect(mender.accept(frame(8)).map(({ seq }) => seq)).toEqual([6, 7, 8]);
    expect(mender.accept(frame(0xffff_ffff))).toMatchObject([{ seq: 0xffff_ffff, gap: true }]);
    expect(mender.counts()).toEqual({ filled: 2, stale: 2, jumps: 1 });
    const queue = createFrameQueue();
    queue.push(frame(1));
    queue.clear();
    expect(queue.take()).toBeUndefined();
  });
});
