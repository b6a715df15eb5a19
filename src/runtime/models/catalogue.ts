import { z } from 'zod';
import type { ModelId } from '../../shared/domain/ids.ts';
import { CatalogueEntry } from '../../shared/domain/models.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { DownloadTarget, Targets } from './ports.ts';

/** `resources/catalogue.json`. Entries stay unread here, so that one unknown kind costs only its own entry (CAT-06). */
const CatalogueFile = z.object({ schemaVersion: z.literal(1), entries: z.array(z.unknown()).max(1024) });

export type Catalogue = Targets & {
  list(): readonly CatalogueEntry[];
  get(modelId: ModelId): CatalogueEntry | null;
  /** Entries that were left out, with the field that was wrong; for the log and for the build check. */
  readonly skipped: readonly { index: number; reason: string }[];
};

/**
 * The shipped list of models.
 *
 * @param json  the parsed content of `resources/catalogue.json`.
 * @throws AppError INVALID_INPUT if it is no catalogue at all, or if an id stands in it twice (after case folding).
 */
export function createCatalogue(json: unknown): Catalogue {
  const file = CatalogueFile.safeParse(json);
  if (!file.success) throw new AppError('INVALID_INPUT', { field: 'catalogue', reason: 'not a catalogue' });
  const byId = new Map<string, CatalogueEntry>();
  const skipped: { index: number; reason: string }[] = [];
  for (const [index, raw] of file.data.entries.entries()) {
    const entry = CatalogueEntry.safeParse(raw);
    if (!entry.success) {
      skipped.push({ index, reason: entry.error.issues[0]?.path.join('.') || 'entry' });
      continue;
    }
    const names = [entry.data.file.name, entry.data.prepare?.file.name ?? 'none'];
    if (!names.every(isPlainFileName)) {
      skipped.push({ index, reason: 'file.name' });
      continue;
    }
    if (byId.has(entry.data.id)) throw new AppError('INVALID_INPUT', { field: `entries.${index}.id`, reason: 'twice' });
    byId.set(entry.data.id, entry.data);
  }
  const entries = [...byId.values()];
  return {
    skipped,
    list: () => entries,
    get: (modelId) => byId.get(modelId) ?? null,
    find(modelId): DownloadTarget | null {
      const entry = byId.get(modelId);
      if (entry === undefined) return null;
      const { id, name, slot, runtimeClass, file: wanted, sources, layout, prepare } = entry;
      return { modelId: id, name, slot, runtimeClass, file: wanted, sources, layout, prepare };
    },
  };
}

/** A name that is one path segment everywhere: letters, digits, `._-` and spaces, no leading or trailing dot or space. */
export function isPlainFileName(name: string): boolean {
  return /^[A-Za-z0-9_-](?:[A-Za-z0-9._ -]{0,158}[A-Za-z0-9_-])?$/.test(name) && !/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(name);
}
