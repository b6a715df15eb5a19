import { createChance } from '../crash/chance.ts';

/** What one clip cost: of how many words how many were wrong. */
export type Errors = { readonly errors: number; readonly words: number };

/** Errors in a hundred words. */
export const percentOf = (clips: readonly Errors[]): number =>
  (100 * clips.reduce((sum, { errors }) => sum + errors, 0)) /
  Math.max(
    1,
    clips.reduce((sum, { words }) => sum + words, 0),
  );

/**
 * The middle 95 of a hundred values that a figure takes when clips are drawn anew, each as often as chance wants. The same seed gives the
 * same interval.
 *
 * @param count   of clips.
 * @param figure  of the clips with these places.
 * @source B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 1979; percentile interval.
 */
export function interval95(count: number, figure: (places: readonly number[]) => number, seed: number): { low: number; high: number } {
  const chance = createChance(seed);
  const draws = 1_000;
  const values = Array.from({ length: draws }, () => figure(Array.from({ length: count }, () => Math.floor(chance() * count)))).toSorted(
    (a, b) => a - b,
  );
  return { low: values[Math.floor(draws * 0.025)] ?? Number.NaN, high: values[Math.ceil(draws * 0.975) - 1] ?? Number.NaN };
}

/**
 * 95 % interval of a share, also for none of many.
 *
 * @source E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 1927.
 */
export function shareInterval95(hits: number, of: number): { low: number; high: number } {
  const z = 1.96;
  const share = hits / of;
  const middle = (share + z ** 2 / (2 * of)) / (1 + z ** 2 / of);
  const half = (z * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2))) / (1 + z ** 2 / of);
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}
