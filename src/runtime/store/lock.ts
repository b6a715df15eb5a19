import { AppError } from '../../shared/errors/appError.ts';
import { storeFaultOf } from './guard.ts';
import type { Sqlite } from './sqlite.ts';

/** A runtime that was just killed may hold the lock until the system has reaped it. */
const waitMs = 1_000;

export type FolderLock = { release(): void };

/**
 * Holds the data folder for this process by an open exclusive transaction. The system drops it with the process, however that ends,
 * so there is no stale lock to judge.
 *
 * @throws AppError DATA_DIR_IN_USE, STORE_*.
 */
export function lockFolder(sqlite: Sqlite, file: string): FolderLock {
  let db: InstanceType<Sqlite> | undefined;
  try {
    db = new sqlite(file, { timeout: waitMs });
    // An exclusive lock of WAL mode would let readers in; a journal file would need room on a disk that may be full.
    db.pragma('journal_mode = MEMORY');
    // An empty file would get its first page inside the transaction below, which needs room as well: write it once.
    if (db.pragma('user_version', { simple: true }) === 0) db.pragma('user_version = 1');
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db?.close();
    const fault = storeFaultOf(error);
    if (fault === 'STORE_BUSY') throw new AppError('DATA_DIR_IN_USE', {}, { cause: error });
    throw fault === null ? error : new AppError(fault, {}, { cause: error });
  }
  const held = db;
  return {
    release() {
      if (!held.open) return;
      if (held.inTransaction) held.exec('ROLLBACK');
      held.close();
    },
  };
}
