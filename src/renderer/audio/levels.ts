/** What a level meter shows of one frame. Levels are linear, 0…1. */
export type Level = {
  readonly rms: number;
  readonly peak: number;
  /** Of the room: the quietest that was heard lately. */
  readonly floor: number;
  readonly clipped: boolean;
  readonly zero: boolean;
};

/** A floor that rises by this much per frame doubles in about 2.2 s, so that it follows a fan that starts but not a sentence. */
const rise = 1.01;
/** Below −90 dB there is nothing to multiply. */
const least = 3e-5;

/** Measures frame after frame; the floor falls at once and rises slowly. */
export function createLevels() {
  let floor: number | null = null;
  return {
    measure(samples: Float32Array, clipped: boolean, zero: boolean): Level {
      let sum = 0;
      let peak = 0;
      for (const sample of samples) {
        sum += sample * sample;
        peak = Math.max(peak, Math.abs(sample));
      }
      const rms = Math.sqrt(sum / Math.max(1, samples.length));
      // A device that gives only zeros says nothing of the room.
      if (!zero) floor = floor === null || rms < floor ? rms : Math.min(rms, Math.max(floor, least) * rise);
      return { rms, peak, floor: floor ?? 0, clipped, zero };
    },
  };
}
