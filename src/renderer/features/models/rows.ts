import type { CatalogueEntry, InstalledModel, LanguageStatus, ModelSlot } from '../../../shared/domain/models.ts';

/** What the engines hold now (`models.loaded`). */
export type Loaded = readonly { readonly key: string; readonly memoryBytes: number | null; readonly modelIds: readonly string[] }[];

export type ModelState = 'loaded' | 'loading' | 'here' | 'unproven' | 'rejected' | 'notHere';

export type ModelRow = {
  readonly id: string;
  readonly name: string;
  /** What the catalogue knows of it; null for a file that no longer stands there. */
  readonly entry: CatalogueEntry | null;
  readonly installed: InstalledModel | null;
  readonly bytes: number;
  readonly state: ModelState;
  /** Of the engine that holds it; null = not loaded, or the system does not say. */
  readonly memoryBytes: number | null;
  /** Other models share that memory. */
  readonly shared: boolean;
};

/** In the order of a turn: what answers first, since it is what most people look for. */
const slots: readonly ModelSlot[] = ['language', 'listen', 'speak', 'activity'];

/** All models by what they do, those that are here first. */
export function modelRows(
  entries: readonly CatalogueEntry[],
  installed: readonly InstalledModel[],
  loaded: Loaded,
  language: LanguageStatus | null,
): { slot: ModelSlot; rows: ModelRow[] }[] {
  const ids = new Set([...entries.map(({ id }) => id), ...installed.map(({ id }) => id)]);
  const rows = [...ids].flatMap((id): (ModelRow & { slot: ModelSlot })[] => {
    const entry = entries.find((one) => one.id === id) ?? null;
    const here = installed.find((one) => one.id === id) ?? null;
    const slot = entry?.slot ?? here?.slot;
    if (slot === undefined) return [];
    const engine = loaded.find(({ modelIds }) => modelIds.includes(id));
    const loading = language?.modelId === id && language.state === 'loading';
    return [
      {
        id,
        slot,
        name: entry?.name ?? here?.name ?? id,
        entry,
        installed: here,
        bytes: here?.bytes ?? entry?.file.bytes ?? 0,
        state: stateOf(here, engine !== undefined, loading),
        memoryBytes: engine?.memoryBytes ?? null,
        shared: (engine?.modelIds.length ?? 0) > 1,
      },
    ];
  });
  return slots.map((slot) => ({
    slot,
    rows: rows.filter((row) => row.slot === slot).sort((a, b) => Number(b.installed !== null) - Number(a.installed !== null)),
  }));
}

function stateOf(here: InstalledModel | null, isLoaded: boolean, isLoading: boolean): ModelState {
  if (isLoading) return 'loading';
  // What serves although it was never fetched came with Sotto.
  if (isLoaded) return 'loaded';
  if (here === null) return 'notHere';
  return here.state === 'proven' ? 'here' : here.state;
}
