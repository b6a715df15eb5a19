import { createChance } from '../crash/chance.ts';
import { join, noise, resample, rms } from '../helpers/audio.ts';
import type { Recording } from '../helpers/recordings.ts';

type Sound = Float32Array<ArrayBuffer>;

/**
 * Sound under noise.
 *
 * @param snrDb  of the root mean squares over the whole clip. Both are made softer together where the sum would be cut off.
 */
export function under(speech: Float32Array, disturbance: Float32Array, snrDb: number): Sound {
  const gain = rms(speech) / Math.max(1e-9, rms(disturbance)) / 10 ** (snrDb / 20);
  const sum = Float32Array.from(speech, (x, i) => x + gain * (disturbance[i % disturbance.length] ?? 0));
  const most = sum.reduce((peak, x) => Math.max(peak, Math.abs(x)), 0);
  return most > 0.99 ? sum.map((x) => (x * 0.99) / most) : sum;
}

export const whiteNoise = (ms: number, seed: number): Sound => noise(-20, ms, 16_000, seed);

/**
 * Six people who talk at once: recordings of one person, each at a pitch and pace of its own.
 *
 * @param of  recordings to draw from.
 */
export function babble(ms: number, of: readonly Recording[], seed: number): Sound {
  const chance = createChance(seed);
  const length = Math.round(ms * 16);
  const sum = new Float32Array(length);
  for (const pitch of [0.78, 0.86, 0.93, 1.08, 1.16, 1.25]) {
    const parts: Float32Array[] = [];
    for (let have = 0; have < length + 16_000; have += parts.at(-1)?.length ?? 0) {
      const one = of[Math.floor(chance() * of.length)];
      parts.push(resample(one?.sound() ?? new Float32Array(16_000), Math.round(16_000 * pitch), 16_000));
    }
    const voice = join(...parts);
    const from = Math.floor(chance() * Math.min(16_000, voice.length - length));
    for (let i = 0; i < length; i += 1) sum[i] = (sum[i] ?? 0) + (voice[from + i] ?? 0) / 6;
  }
  return sum;
}

/** The same choice each time: `count` of a list, spread over all of it by chance. */
export function chosen<T>(list: readonly T[], count: number, seed: number): T[] {
  const chance = createChance(seed);
  const drawn = list.map((item) => ({ item, place: chance() })).toSorted((a, b) => a.place - b.place);
  return drawn.slice(0, count).map(({ item }) => item);
}
