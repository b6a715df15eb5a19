import { readFileSync } from 'node:fs';
import { CatalogueEntry, type InstalledModel } from '../../src/shared/domain/models.ts';

/** The shipped catalogue, as every page gets it. */
export const shipped: CatalogueEntry[] = (
  JSON.parse(readFileSync('resources/catalogue.json', 'utf8')) as { entries: unknown[] }
).entries.map((entry) => CatalogueEntry.parse(entry));

/** A model of it as it is listed once it was proven. */
export function installedOf(entry: CatalogueEntry, change: Partial<InstalledModel> = {}): InstalledModel {
  const { id, name, slot, file } = entry;
  return {
    id,
    name,
    slot,
    bytes: file.bytes,
    sha256: file.sha256,
    state: 'proven',
    reason: null,
    installedAt: '2026-05-03T09:40:00.000Z',
    ...change,
  };
}

export const starters = shipped.filter(({ starter }) => starter);
export const allInstalled = starters.map((entry) => installedOf(entry));

/** The starter of a slot. */
export function starterOf(slot: CatalogueEntry['slot']): CatalogueEntry {
  const found = starters.find((entry) => entry.slot === slot);
  if (found === undefined) throw new Error(`the catalogue has no starter that is ${slot}`);
  return found;
}
