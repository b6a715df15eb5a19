import { resample as resampled } from '../../src/shared/util/resampler.ts';
import { joinSamples } from '../../src/shared/util/samples.ts';
import { createChance } from '../crash/chance.ts';

// Sound that is computed: the same each time, with no file and no licence. Everything is mono float32.

type Sound = Float32Array<ArrayBuffer>;

const length = (ms: number, rateHz: number) => Math.round((ms * rateHz) / 1_000);

function made(ms: number, rateHz: number, sample: (seconds: number, index: number) => number): Sound {
  return Float32Array.from({ length: length(ms, rateHz) }, (_, i) => sample(i / rateHz, i));
}

export const silence = (ms: number, rateHz = 16_000): Sound => new Float32Array(length(ms, rateHz));

/** A sine. @param level peak, 0…1. */
export const tone = (hz: number, ms: number, rateHz = 16_000, level = 0.5): Sound =>
  made(ms, rateHz, (t) => level * Math.sin(2 * Math.PI * hz * t));

/** A sine whose pitch runs from one frequency to another, so that each place in it is like no other. */
export const chirp = (fromHz: number, toHz: number, ms: number, rateHz = 16_000, level = 0.5): Sound =>
  made(ms, rateHz, (t) => level * Math.sin(2 * Math.PI * (fromHz * t + ((toHz - fromHz) * t * t * 500) / ms)));

/** White noise at a level in dBFS (its root mean square). */
export function noise(dbfs: number, ms: number, rateHz = 16_000, seed = 1): Sound {
  const chance = createChance(seed);
  const peak = 10 ** (dbfs / 20) * Math.sqrt(3);
  return made(ms, rateHz, () => peak * (chance() * 2 - 1));
}

/** A device whose silence is not zero. */
export const offset = (pcm: Float32Array, by: number): Sound => Float32Array.from(pcm, (x) => x + by);

/** Too loud: what is over ±1 is cut off, as a converter does. */
export const clipped = (pcm: Float32Array, gain: number): Sound => Float32Array.from(pcm, (x) => Math.max(-1, Math.min(1, x * gain)));

/** Every n-th sample is NaN, then Infinity, then −Infinity in turn. */
export const broken = (pcm: Float32Array, every: number): Sound =>
  Float32Array.from(pcm, (x, i) => (i % every === 0 ? ([Number.NaN, Infinity, -Infinity][(i / every) % 3] ?? x) : x));

export const join = (...parts: readonly Float32Array[]): Sound => joinSamples(parts);

/** Adds one sound to another, later and weaker, as an echo comes back. As long as the longer of both. */
export function mix(a: Float32Array, b: Float32Array, delayMs = 0, gain = 1, rateHz = 16_000): Sound {
  const delay = length(delayMs, rateHz);
  return Float32Array.from(
    { length: Math.max(a.length, b.length + delay) },
    (_, i) => (a[i] ?? 0) + gain * (i < delay ? 0 : (b[i - delay] ?? 0)),
  );
}

export const resample = (pcm: Float32Array, fromHz: number, toHz: number): Sound => resampled(pcm, fromHz, toHz);

/** Cut into pieces of these sizes, in turn, until it is used up. */
export function pieces(pcm: Float32Array, ...sizes: readonly number[]): Sound[] {
  const cut: Sound[] = [];
  for (let at = 0, i = 0; at < pcm.length; i += 1) {
    const size = Math.max(1, sizes[i % sizes.length] ?? pcm.length);
    cut.push(pcm.slice(at, at + size));
    at += size;
  }
  return cut;
}

export const rms = (pcm: Float32Array): number => Math.sqrt(pcm.reduce((sum, x) => sum + x * x, 0) / Math.max(1, pcm.length));
export const peak = (pcm: Float32Array): number => pcm.reduce((most, x) => Math.max(most, Math.abs(x)), 0);

/** How alike two sounds of one length are: 1 = the same but for a factor, 0 = nothing in common. */
export function alike(a: Float32Array, b: Float32Array): number {
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa === 0 || bb === 0 ? 0 : ab / Math.sqrt(aa * bb);
}

/**
 * Where a piece lies in a longer sound.
 *
 * @returns  the place with the greatest likeness, and that likeness.
 */
export function find(
  piece: Float32Array,
  whole: Float32Array,
  from = 0,
  to = whole.length - piece.length,
): { at: number; likeness: number } {
  let best = { at: -1, likeness: -1 };
  for (let at = Math.max(0, from); at <= Math.min(to, whole.length - piece.length); at += 1) {
    const likeness = alike(piece, whole.subarray(at, at + piece.length));
    if (likeness > best.likeness) best = { at, likeness };
  }
  return best;
}

/** A WAV file of 16 bits, mono. */
export function wav(pcm: Float32Array, rateHz: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(44 + pcm.length * 2);
  const view = new DataView(bytes.buffer);
  const word = (at: number, text: string) => {
    for (let i = 0; i < 4; i += 1) bytes[at + i] = text.charCodeAt(i);
  };
  word(0, 'RIFF');
  view.setUint32(4, 36 + pcm.length * 2, true);
  word(8, 'WAVE');
  word(12, 'fmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rateHz, true);
  view.setUint32(28, rateHz * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  word(36, 'data');
  view.setUint32(40, pcm.length * 2, true);
  pcm.forEach((x, i) => view.setInt16(44 + i * 2, Math.round(Math.max(-1, Math.min(1, x)) * 32_767), true));
  return bytes;
}
