import type { Database } from 'better-sqlite3';

/** One step of the schema. Numbered, append-only; `up` runs in one transaction and is never edited after it shipped. */
export type Migration = {
  readonly version: number;
  readonly name: string;
  readonly up: (db: Database) => void;
};
