import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import { timestamp } from '../../shared/domain/time.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { ErrorCode } from '../../shared/errors/codes.ts';
import type { LiveValue } from '../../shared/util/liveValue.ts';
import type { Clock, Logger, Paths } from '../platform/ports.ts';
import { backUp, backUpSlowly, flush, headerVersion, listBackups, newestGoodBackup } from './backup.ts';
import { createGuard, freeBytes, storeFaultOf } from './guard.ts';
import { lockFolder } from './lock.ts';
import { migrate, newestVersion } from './migrate.ts';
import type { Migration } from './migration.ts';
import { createReader, type Reader } from './reader.ts';
import { loadSqlite, type Sqlite } from './sqlite.ts';

export type StoreState = { readonly state: 'ok' | 'read-only'; readonly code: ErrorCode | null };

export type Store = {
  /** The one writing connection. Repositories prepare their statements on it. */
  readonly db: Database;
  /** Number of this runtime on this folder, raised at every open (LE-02). */
  readonly generation: number;
  readonly state: LiveValue<StoreState>;
  /** Long reads, in a worker on a read-only connection (ST-04). */
  readonly reader: Reader;
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
  /**
   * What to do while a damaged database lies aside and none is in its place. `refuse` (default) throws DB_DAMAGED again, so that an
   * empty app never passes for the person's own; `restore` puts the newest good backup back; `empty` starts anew. The damaged file stays.
   */
  readonly damaged?: 'refuse' | 'restore' | 'empty';
};

/** Files above this are not checked at open, since the check reads every page: their damage shows where it is read (STORE_IO). */
const checkAtMostBytes = 128 * 1024 * 1024;
const backupEveryMs = 24 * 3_600_000;
const backupAfterStartMs = 120_000;

/**
 * Takes the folder lock, proves the database and brings it to the newest schema.
 *
 * @throws AppError DATA_DIR_IN_USE, DB_FROM_FUTURE (file untouched), DB_DAMAGED (file moved aside), NATIVE_ABI_MISMATCH, STORE_*.
 */
export async function openStore(deps: StoreDeps): Promise<Store> {
  const { paths, clock, log } = deps;
  const sqlite = await loadSqlite();
  const known = newestVersion(deps.migrations);
  mkdirSync(paths.data, { recursive: true, mode: 0o700 });
  mkdirSync(dirname(paths.database), { recursive: true, mode: 0o700 });
  const lock = lockFolder(sqlite, paths.lock);
  let db: Database | undefined;
  try {
    refuseFuture(sqlite, paths.database, known);
    settleDamage(sqlite, deps, known);
    db = connect(sqlite, deps, known);
    const open = db;
    migrate(open, deps.migrations, log, () => {
      const backup = backUp(sqlite, open, paths.backups, clock.nowMs());
      log.info('store.backup', { version: backup.version, at: backup.at });
    });
    return assemble(sqlite, open, deps, () => lock.release());
  } catch (error) {
    db?.close();
    lock.release();
    const fault = storeFaultOf(error);
    throw fault === null ? error : new AppError(fault, {}, { cause: error });
  }
}

function assemble(sqlite: Sqlite, db: Database, deps: StoreDeps, release: () => void): Store {
  const { paths, clock, log } = deps;
  db.exec(`
    CREATE TABLE IF NOT EXISTS runtime (one INTEGER PRIMARY KEY CHECK (one = 1), generation INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS runtime_probe (filler BLOB NOT NULL) STRICT;
  `);
  const generation = (db.prepare<[], number>('SELECT generation FROM runtime').pluck().get() ?? 0) + 1;
  const raise = db.prepare<[number]>(
    'INSERT INTO runtime (one, generation) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET generation = excluded.generation',
  );
  const guard = createGuard({ db, folder: paths.data, clock, log, first: () => raise.run(generation) });
  const reader = createReader({ database: paths.database, clock, log });
  let copying = Promise.resolve();
  let takeBack = clock.setTimer(backupAfterStartMs, dailyBackup);

  function dailyBackup(): void {
    takeBack = clock.setTimer(backupEveryMs / 4, dailyBackup);
    const room = freeBytes(paths.data);
    // A copy must never be what fills the disk.
    if (room !== null && room < 3 * statSync(paths.database).size) return;
    const newest = listBackups(paths.backups)[0];
    if (newest !== undefined && clock.nowMs() - Date.parse(newest.at) < backupEveryMs) return;
    copying = backUpSlowly(sqlite, db, paths.backups, clock.nowMs()).then(
      (backup) => log.info('store.backup', { version: backup.version, at: backup.at }),
      (error: unknown) => log.warn('store.backupFailed', { reason: error instanceof Error ? error.name : 'unknown' }),
    );
  }

  log.info('store.open', { generation, version: Number(db.pragma('user_version', { simple: true })) });
  return {
    db,
    generation,
    state: guard.state,
    reader,
    read: (work) => guard.read(work),
    write: (work) => guard.write(work),
    afterCommit: (callback) => guard.afterCommit(callback),
    async [Symbol.asyncDispose]() {
      takeBack();
      guard.close();
      await reader[Symbol.asyncDispose]();
      await copying;
      if (db.open) {
        // The optimiser's notes for the next start; skipped when the disk will not take them.
        try {
          db.pragma('optimize');
        } catch {
          log.warn('store.optimizeSkipped');
        }
        db.close();
      }
      release();
    },
  };
}

function connect(sqlite: Sqlite, deps: StoreDeps, known: number): Database {
  const { paths } = deps;
  const existed = existsSync(paths.database) && statSync(paths.database).size > 0;
  let db: Database | undefined;
  try {
    db = new sqlite(paths.database, { timeout: 1_000 });
    setPragmas(db);
    if (existed && statSync(paths.database).size <= checkAtMostBytes && db.pragma('quick_check(1)', { simple: true }) !== 'ok')
      throw damaged(sqlite, deps, known, db);
    if (!existed) chmodSync(paths.database, 0o600);
    return db;
  } catch (error) {
    if (error instanceof AppError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (existed && /^SQLITE_(CORRUPT|NOTADB)/.test(code)) throw damaged(sqlite, deps, known, db);
    db?.close();
    throw error;
  }
}

function setPragmas(db: Database): void {
  db.pragma('journal_mode = WAL');
  // A receipt must survive a power cut (EV-16).
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  // Erased means erased (SE-07); nothing is written outside the data folder (RB-61).
  db.pragma('secure_delete = ON');
  db.pragma('temp_store = MEMORY');
  db.pragma('cache_size = -16000');
  db.pragma('journal_size_limit = 67108864');
  // A database is data from outside: no functions of ours from a planted trigger.
  db.pragma('trusted_schema = OFF');
}

/** DB_FROM_FUTURE before anything is opened for writing. */
function refuseFuture(sqlite: Sqlite, database: string, known: number): void {
  let found = headerVersion(database);
  // A crash of the newer build may have left its number in the write-ahead log only.
  if (found !== null && !Number.isNaN(found) && found <= known && walHolds(database)) {
    let db: Database | undefined;
    try {
      db = new sqlite(database, { readonly: true });
      found = Number(db.pragma('user_version', { simple: true }));
    } catch {
      return; // Damaged: the real open says so.
    } finally {
      db?.close();
    }
  }
  if (found !== null && found > known) throw new AppError('DB_FROM_FUTURE', { found, known });
}

function walHolds(database: string): boolean {
  return existsSync(`${database}-wal`) && statSync(`${database}-wal`).size > 0;
}

function damaged(sqlite: Sqlite, deps: StoreDeps, known: number, db: Database | undefined): AppError {
  const { paths, clock, log } = deps;
  try {
    db?.close();
  } catch {
    // A connection on a broken file may fail to close; moving it is what counts.
  }
  const aside = `${paths.database}.damaged-${timestamp(clock.nowMs()).replaceAll(/[-:.Z]/g, '')}`;
  for (const suffix of ['', '-wal', '-shm']) if (existsSync(paths.database + suffix)) renameSync(paths.database + suffix, aside + suffix);
  flush(dirname(paths.database));
  const backup = newestGoodBackup(sqlite, paths.backups, known);
  log.error('store.damaged', { backupAt: backup?.at ?? null });
  return new AppError('DB_DAMAGED', { movedTo: basename(aside), backupAt: backup?.at ?? null });
}

/** The database is missing because a damaged one was moved aside: what now is the person's choice, never a silent empty app. */
function settleDamage(sqlite: Sqlite, deps: StoreDeps, known: number): void {
  const { paths, log } = deps;
  if (existsSync(paths.database)) return;
  const folder = dirname(paths.database);
  const aside = readdirSync(folder)
    .filter((entry) => entry.startsWith(`${basename(paths.database)}.damaged-`) && !/-(wal|shm)$/.test(entry))
    .sort()
    .at(-1);
  if (aside === undefined) return;
  const choice = deps.damaged ?? 'refuse';
  if (choice === 'empty') return;
  const backup = newestGoodBackup(sqlite, paths.backups, known);
  if (choice === 'refuse' || backup === null) throw new AppError('DB_DAMAGED', { movedTo: aside, backupAt: backup?.at ?? null });
  const temporary = `${paths.database}.restoring`;
  copyFileSync(backup.file, temporary);
  flush(temporary);
  renameSync(temporary, paths.database);
  flush(folder);
  log.info('store.restored', { at: backup.at });
}
