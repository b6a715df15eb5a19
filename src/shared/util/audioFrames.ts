import { type AudioFrame, audio, msOf } from '../domain/audio.ts';

const frameMs = msOf(audio.frameSamples, audio.rateHz);

/** Frames that wait for a link. When more than 64 wait the oldest go first: what is being said now matters more (VO-02). */
export function createFrameQueue() {
  const waiting: AudioFrame[] = [];
  let dropped = 0;
  return {
    push(frame: AudioFrame): void {
      waiting.push(frame);
      if (waiting.length <= audio.waitingFrames) return;
      waiting.shift();
      dropped += 1;
    },
    /** The next one to be sent. */
    take: (): AudioFrame | undefined => waiting.shift(),
    clear(): void {
      waiting.length = 0;
    },
    /** Frames that nobody will get. */
    dropped: (): number => dropped,
    waiting: (): number => waiting.length,
  };
}

/**
 * The receiver's side: numbers that are missing become frames of silence, so that time stays true (VO-02).
 *
 * @param longestMs  of what may be missing; beyond it the frame is taken as the first of a new stretch, and only counted.
 */
export function createFrameMender(longestMs: number) {
  const longest = Math.floor(longestMs / frameMs);
  let expected: number | null = null;
  const counts = { filled: 0, stale: 0, jumps: 0 };
  return {
    /** @returns the frames to go on with, in order: silence for those that are missing, then this one; none for one that comes late. */
    accept(frame: AudioFrame): AudioFrame[] {
      const missing = expected === null ? 0 : frame.seq - expected;
      if (missing < 0) {
        counts.stale += 1;
        return [];
      }
      expected = frame.seq + 1;
      if (missing > longest) {
        counts.jumps += 1;
        return [{ ...frame, gap: true }];
      }
      counts.filled += missing;
      const silence = Array.from(
        { length: missing },
        (_, i): AudioFrame => ({
          seq: frame.seq - missing + i,
          captureMs: Math.max(0, frame.captureMs - (missing - i) * frameMs),
          clipped: false,
          zero: true,
          gap: true,
          samples: new Float32Array(audio.frameSamples),
        }),
      );
      return [...silence, frame];
    },
    counts: (): Readonly<typeof counts> => ({ ...counts }),
  };
}
