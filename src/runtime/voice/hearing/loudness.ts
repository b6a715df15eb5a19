import { dbfs, measureFrame } from '../../../shared/domain/voiceSignal.ts';

/** Nothing at all, in dBFS. */
const silenceDb = -100;

/** Without a constant offset, which is no loudness (VO-05). */
export const rmsOf = (samples: Float32Array): number => measureFrame(samples).rms;

const levelOf = (rms: number): number => Math.max(silenceDb, dbfs(rms) ?? silenceDb);

/** How loud an utterance is, frame by frame. */
export function createLoudness() {
  const all: number[] = [];
  let voiced = { energy: 0, frames: 0 };
  return {
    /** @param rms  of a frame. */
    add(rms: number): void {
      all.push(rms);
    },
    voiced(rms: number): void {
      voiced = { energy: voiced.energy + rms * rms, frames: voiced.frames + 1 };
    },
    /** dBFS: of what was voiced, else of everything; null without a frame. */
    level(): number | null {
      if (all.length === 0) return null;
      if (voiced.frames > 0) return levelOf(Math.sqrt(voiced.energy / voiced.frames));
      return levelOf(Math.sqrt(all.reduce((sum, rms) => sum + rms * rms, 0) / all.length));
    },
    /** dBFS of the quietest tenth; null without a frame. */
    floor(): number | null {
      if (all.length === 0) return null;
      const sorted = [...all].sort((a, b) => a - b);
      return levelOf(sorted[Math.floor(sorted.length / 10)] ?? 0);
    },
  };
}
