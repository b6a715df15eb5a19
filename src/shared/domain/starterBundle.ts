import type { CatalogueEntry, ModelSlot } from './models.ts';

/** What the starter bundle may weigh in all (CAT-07): 1,536 MB. */
export const bundleLimitBytes = 1_536_000_000;

/** The order in which it is fetched (REC-08): the smallest first, so that something works as early as possible. */
const order: readonly ModelSlot[] = ['activity', 'listen', 'speak', 'language'];

export type StarterBundle = {
  /** At most one for each thing that a model does, in the order in which they are fetched. */
  readonly entries: readonly CatalogueEntry[];
  readonly bytes: number;
};

/**
 * The one bundle that is offered at the first start: of each slot the first starter of the catalogue.
 *
 * @param use  `type`: only what answers (UX-23).
 */
export function starterBundle(catalogue: readonly CatalogueEntry[], use: 'talk' | 'type'): StarterBundle {
  const slots = use === 'talk' ? order : (['language'] as const);
  const entries = slots.flatMap((slot) => catalogue.find((entry) => entry.starter && entry.slot === slot) ?? []);
  return { entries, bytes: entries.reduce((sum, { file }) => sum + file.bytes, 0) };
}
