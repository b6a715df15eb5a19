import type { Database } from 'better-sqlite3';
import type { ErrorCode } from '../../shared/errors/codes.ts';
import type { LiveValue } from '../../shared/util/liveValue.ts';
import type { Clock, Logger, Paths } from '../platform/ports.ts';
import type { Migration } from './migration.ts';

export type StoreState = { readonly state: 'ok' | 'read-only'; readonly code: ErrorCode | null };

export type Store = {
  /** The one writing connection. Repositories prepare their statements on it. */
  readonly db: Database;
  /** Number of this runtime on this folder, raised at every open (LE-02). */
  readonly generation: number;
  readonly state: LiveValue<StoreState>;
  /** Runs `work` and turns SQLite faults into STORE_*. */
  read<T>(work: () => T): T;
  /** `read` inside one immediate transaction; nested calls join it. A write fault makes the store read-only until a probe succeeds. */
  write<T>(work: () => T): T;
  /** Inside `write`: runs after the commit, dropped on rollback. Outside: runs at once. */
  afterCommit(callback: () => void): void;
  [Symbol.asyncDispose](): Promise<void>;
};

export type StoreDeps = {
  readonly paths: Pick<Paths, 'data' | 'database' | 'lock' | 'backups'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly migrations: readonly Migration[];
};

/**
 * Takes the folder lock, proves the database and brings it to the newest schema.
 *
 * @throws AppError DATA_DIR_IN_USE, DB_FROM_FUTURE (file untouched), DB_DAMAGED (file moved aside), NATIVE_ABI_MISMATCH, STORE_*.
 */
export declare function openStore(deps: StoreDeps): Promise<Store>;
