/** A stretch of samples, end exclusive. */
export type Stretch = { readonly start: number; readonly end: number };

const WINDOW_SECONDS = 0.2;

/**
 * The quietest place of a sound: the middle of the 200 ms with the least energy.
 *
 * @param from  first sample at which such a window may begin, `to` the last one at which it may end.
 */
export function quietestPlace(samples: Float32Array, from: number, to: number, sampleRate: number): number {
  const window = Math.min(Math.round(WINDOW_SECONDS * sampleRate), to - from);
  let energy = 0;
  for (let i = from; i < from + window; i += 1) energy += (samples[i] ?? 0) ** 2;
  let best = from;
  let least = energy;
  for (let i = from + window; i < to; i += 1) {
    energy += (samples[i] ?? 0) ** 2 - (samples[i - window] ?? 0) ** 2;
    if (energy < least) {
      least = energy;
      best = i - window + 1;
    }
  }
  return best + Math.floor(window / 2);
}

/**
 * Cuts a sound into pieces of at most `maxSeconds`, each at the quietest place of the piece's last part.
 *
 * @param fromSeconds  no piece but the last is shorter than this.
 */
export function cutAtQuiet(samples: Float32Array, sampleRate: number, fromSeconds: number, maxSeconds: number): Stretch[] {
  const pieces: Stretch[] = [];
  let start = 0;
  while (samples.length - start > maxSeconds * sampleRate) {
    const end = quietestPlace(
      samples,
      start + Math.round(fromSeconds * sampleRate),
      start + Math.round(maxSeconds * sampleRate),
      sampleRate,
    );
    pieces.push({ start, end });
    start = end;
  }
  pieces.push({ start, end: samples.length });
  return pieces;
}
