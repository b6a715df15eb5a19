const silenceDb = -100;

/** Of the movement of the air alone: a constant offset, as cheap sound cards give, is no loudness (VO-05). */
export const rmsOf = (samples: Float32Array): number => {
  let [sum, squares] = [0, 0];
  for (const sample of samples) {
    sum += sample;
    squares += sample * sample;
  }
  const count = Math.max(1, samples.length);
  return Math.sqrt(Math.max(0, squares / count - (sum / count) ** 2));
};

/** @param rms  0…1; below −100 dBFS everything is −100. */
export const dbfs = (rms: number): number => (rms <= 1e-5 ? silenceDb : 20 * Math.log10(rms));

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
      if (voiced.frames > 0) return dbfs(Math.sqrt(voiced.energy / voiced.frames));
      return dbfs(Math.sqrt(all.reduce((sum, rms) => sum + rms * rms, 0) / all.length));
    },
    /** dBFS of the quietest tenth; null without a frame. */
    floor(): number | null {
      if (all.length === 0) return null;
      const sorted = [...all].sort((a, b) => a - b);
      return dbfs(sorted[Math.floor(sorted.length / 10)] ?? 0);
    },
  };
}
