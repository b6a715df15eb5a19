import { statfsSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { AppError, isAppError } from '../../shared/errors/appError.ts';
import { createLiveValue, type LiveValue } from '../../shared/util/liveValue.ts';
import type { Clock, Logger } from '../platform/ports.ts';
import type { StoreState } from './open.ts';

/** How often a store that cannot write is tried again by itself, and at most on demand. */
const probeEveryMs = 5_000;
const probeAtMostEveryMs = 1_000;
/** Bytes that a probe writes: enough to need fresh pages, so that a full disk is noticed. */
const probeBytes = 64 * 1024;

type StoreFault = 'STORE_FULL' | 'STORE_BUSY' | 'STORE_READ_ONLY' | 'STORE_IO';

/**
 * The one place where SQLite's result codes become ours. Constraint violations and misuse are bugs of ours, not faults of the store,
 * and pass as they are.
 *
 * @returns the store fault, or null when `error` is none.
 * @source  https://www.sqlite.org/rescode.html
 */
export function storeFaultOf(error: unknown): StoreFault | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  // The shared index of the write-ahead log found no room.
  if (error.code === 'SQLITE_IOERR_SHMSIZE') return 'STORE_FULL';
  const primary = /^SQLITE_[A-Z]+/.exec(error.code)?.[0];
  switch (primary) {
    case 'SQLITE_FULL':
      return 'STORE_FULL';
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
      return 'STORE_BUSY';
    case 'SQLITE_READONLY':
    case 'SQLITE_PERM':
    case 'SQLITE_AUTH':
      return 'STORE_READ_ONLY';
    case 'SQLITE_IOERR':
    case 'SQLITE_CANTOPEN':
    case 'SQLITE_CORRUPT':
    case 'SQLITE_NOTADB':
    case 'SQLITE_NOLFS':
    case 'SQLITE_PROTOCOL':
      return 'STORE_IO';
    default:
      return null;
  }
}

/** A fault of the store as `read` and `write` throw it. */
export function isStoreFault(error: unknown): error is AppError {
  return isAppError(error) && error.code.startsWith('STORE_');
}

export type Guard = {
  readonly state: LiveValue<StoreState>;
  read<T>(work: () => T): T;
  write<T>(work: () => T): T;
  afterCommit(callback: () => void): void;
  close(): void;
};

/**
 * Transactions with one opinion about failure: a write fault switches the store to read-only, and only a write that went through
 * switches it back. Reading goes on meanwhile.
 *
 * @param deps.folder  where the database lies, for the free space that STORE_FULL tells.
 */
export function createGuard(deps: {
  db: Database;
  folder: string;
  clock: Clock;
  log: Logger;
  /** First write of this runtime; repeated after a probe until it went through. */
  first: () => void;
}): Guard {
  const { db, folder, clock, log, first } = deps;
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  const probeIn = db.prepare('INSERT INTO runtime_probe (filler) VALUES (zeroblob(?))');
  const probeOut = db.prepare('DELETE FROM runtime_probe');
  const state = createLiveValue<StoreState>({ state: 'ok', code: null });
  let hooks: (() => void)[] = [];
  let lastProbeMs = Number.NEGATIVE_INFINITY;
  let takeBack: (() => void) | null = null;
  let begun = false;

  function faultOf(error: unknown): unknown {
    const code = storeFaultOf(error);
    if (code === null) return error;
    return new AppError(code, code === 'STORE_FULL' ? { freeBytes: freeBytes(folder) } : {}, { cause: error });
  }

  function failed(error: unknown): unknown {
    const fault = faultOf(error);
    if (fault instanceof AppError && fault !== error && state.get().code !== fault.code) {
      state.set({ state: 'read-only', code: fault.code });
      log.error('store.readOnly', { code: fault.code, sqlite: sqliteCode(error) });
      lastProbeMs = clock.monotonicMs();
    }
    if (state.get().state === 'read-only') schedule();
    return fault;
  }

  function schedule(): void {
    takeBack ??= clock.setTimer(probeEveryMs, () => {
      takeBack = null;
      if (state.get().state === 'read-only' && !probe()) schedule();
    });
  }

  function probe(): boolean {
    lastProbeMs = clock.monotonicMs();
    try {
      probeIn.run(probeBytes);
      probeOut.run();
      beginOnce();
    } catch {
      return false;
    }
    takeBack?.();
    takeBack = null;
    state.set({ state: 'ok', code: null });
    log.info('store.writable');
    return true;
  }

  /** What was committed stays committed: a listener that fails must not make the caller believe otherwise. */
  function runHook(hook: () => void): void {
    try {
      hook();
    } catch (error) {
      log.error('store.hookFailed', {}, error);
    }
  }

  function beginOnce(): void {
    if (begun) return;
    first();
    begun = true;
  }

  function mayWrite(): void {
    const { state: now, code } = state.get();
    if (now === 'ok') return;
    if (clock.monotonicMs() - lastProbeMs >= probeAtMostEveryMs && probe()) return;
    throw new AppError(code ?? 'STORE_READ_ONLY', code === 'STORE_FULL' ? { freeBytes: freeBytes(folder) } : {});
  }

  try {
    beginOnce();
  } catch (error) {
    // A full disk must not keep the app from opening: everything that was stored can still be read.
    const fault = failed(error);
    if (storeFaultOf(error) === null) throw fault;
  }

  return {
    state,
    read(work) {
      try {
        return work();
      } catch (error) {
        throw faultOf(error);
      }
    },
    write(work) {
      if (db.inTransaction) return work();
      mayWrite();
      hooks = [];
      let result: ReturnType<typeof work>;
      try {
        begin.run();
        result = work();
        commit.run();
      } catch (error) {
        hooks = [];
        // SQLite has rolled back by itself after some faults (full, I/O).
        if (db.inTransaction) rollback.run();
        throw failed(error);
      }
      const due = hooks;
      hooks = [];
      for (const hook of due) runHook(hook);
      return result;
    },
    afterCommit(callback) {
      if (db.inTransaction) hooks.push(callback);
      else callback();
    },
    close() {
      takeBack?.();
      state.close();
    },
  };
}

/** Free bytes for this user on the volume of `folder`; null when the system does not say. */
export function freeBytes(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

function sqliteCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
}
