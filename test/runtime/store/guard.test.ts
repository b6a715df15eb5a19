import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { storeFaultOf } from '../../../src/runtime/store/guard.ts';
import { migrations } from '../../../src/runtime/store/migrations/index.ts';
import { openStore, type Store } from '../../../src/runtime/store/open.ts';
import { loadSqlite } from '../../../src/runtime/store/sqlite.ts';
import { isAppError } from '../../../src/shared/errors/appError.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';
import { verifies } from '../../helpers/verifies.ts';
import { silent, tempPaths } from '../agent/harness.ts';

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return isAppError(error) ? error.code : String(error);
  }
  return 'none';
};

async function opened(folder?: string) {
  const clock = createFakeClock();
  const paths = tempPaths(folder);
  const store = await openStore({ paths, clock, log: silent, migrations });
  store.db.exec('CREATE TABLE t (x ANY) STRICT');
  return { clock, paths, store };
}

const put = (store: Store, value: string | Buffer) => store.write(() => store.db.prepare('INSERT INTO t VALUES (?)').run(value));
const count = (store: Store) => store.read(() => store.db.prepare('SELECT count(*) FROM t').pluck().get());
/** A volume of its own that can really be full; null where this user may not mount one. */
function smallVolume(kib: number): ({ folder: string } & Disposable) | null {
  const folder = mkdtempSync(join(tmpdir(), 'sotto-full-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k`, 'tmpfs', folder], { stdio: 'ignore' });
    return {
      folder,
      [Symbol.dispose]() {
        execFileSync('umount', [folder]);
        rmSync(folder, { recursive: true });
      },
    };
  } catch {
    rmSync(folder, { recursive: true });
    return null;
  }
}

/** Takes every byte that is left. */
function fill(folder: string): void {
  let rest = 1024 * 1024;
  for (let n = 0; rest >= 4096; n++)
    try {
      writeFileSync(join(folder, `rest-${n}`), Buffer.alloc(rest));
    } catch {
      rest /= 2;
    }
}

describe('a store that cannot write', () => {
  it('ST-02: names every fault in one place, and leaves our own mistakes alone', () => {
    verifies('ST-02');
    const of = (code: string) => storeFaultOf(Object.assign(new Error('x'), { code }));
    expect(
      [
        'SQLITE_FULL',
        'SQLITE_BUSY_SNAPSHOT',
        'SQLITE_LOCKED',
        'SQLITE_READONLY_DBMOVED',
        'SQLITE_IOERR_WRITE',
        'SQLITE_CANTOPEN',
        'SQLITE_CORRUPT_INDEX',
      ].map(of),
    ).toEqual(['STORE_FULL', 'STORE_BUSY', 'STORE_BUSY', 'STORE_READ_ONLY', 'STORE_IO', 'STORE_IO', 'STORE_IO']);
    expect([of('SQLITE_CONSTRAINT_UNIQUE'), of('SQLITE_ERROR'), of('ENOENT'), storeFaultOf('text')]).toEqual([null, null, null, null]);
  });

  it('ST-02: a full disk turns it read-only, reading goes on, and room on the disk turns it back', async (context) => {
    using volume = smallVolume(2_048);
    if (volume === null) return context.skip('no right to mount a small volume');
    const { folder } = volume;
    verifies('ST-02');
    const { clock, store } = await opened(join(folder, 'data'));
    try {
      put(store, 'kept');
      writeFileSync(join(folder, 'ballast'), Buffer.alloc(500_000));
      fill(folder);
      // The log file may still have room of its own for a while.
      let code = 'none';
      for (let tries = 0; code === 'none' && tries < 400; tries++) code = codeOf(() => put(store, 'x'.repeat(4_000)));
      expect(code).toBe('STORE_FULL');
      expect(store.state.get()).toEqual({ state: 'read-only', code: 'STORE_FULL' });
      const stored = Number(count(store));
      clock.advance(30_000);
      expect(store.state.get().state).toBe('read-only');
      expect(codeOf(() => put(store, 'x'.repeat(4_000)))).toBe('STORE_FULL');
      expect(count(store)).toBe(stored);
      rmSync(join(folder, 'ballast'));
      clock.advance(5_000);
      expect(store.state.get()).toEqual({ state: 'ok', code: null });
      put(store, 'again');
      expect(count(store)).toBe(stored + 1);
      expect(store.db.pragma('integrity_check', { simple: true })).toBe('ok');
    } finally {
      await store[Symbol.asyncDispose]();
    }
  });

  it('ST-02: opens on a full disk for reading, and takes its generation as soon as it can write', async (context) => {
    using volume = smallVolume(2_048);
    if (volume === null) return context.skip('no right to mount a small volume');
    const { folder } = volume;
    verifies('ST-02');
    const first = await opened(join(folder, 'data'));
    put(first.store, 'kept');
    await first.store[Symbol.asyncDispose]();
    writeFileSync(join(folder, 'ballast'), Buffer.alloc(500_000));
    writeFileSync(join(folder, 'index'), Buffer.alloc(36 * 1024));
    fill(folder);
    const clock = createFakeClock();
    const again = () => openStore({ paths: tempPaths(join(folder, 'data')), clock, log: silent, migrations });
    await expect(again()).rejects.toMatchObject({ code: 'STORE_FULL' });
    // Room for the shared index of the log, which reading needs too, and for nothing more.
    rmSync(join(folder, 'index'));
    const store = await again();
    try {
      expect(store.state.get()).toEqual({ state: 'read-only', code: 'STORE_FULL' });
      expect(count(store)).toBe(1);
      rmSync(join(folder, 'ballast'));
      clock.advance(5_000);
      expect(store.state.get().state).toBe('ok');
      expect(store.db.prepare('SELECT generation FROM runtime').pluck().get()).toBe(store.generation);
      expect(store.generation).toBe(2);
    } finally {
      await store[Symbol.asyncDispose]();
    }
  });

  it("ST-02: the same without a volume of its own, by SQLite's page limit", async () => {
    verifies('ST-02');
    const { store, clock } = await opened();
    const pages = Number(store.db.pragma('page_count', { simple: true }));
    store.db.pragma(`max_page_count = ${pages + 2}`);
    expect(codeOf(() => put(store, 'x'.repeat(200_000)))).toBe('STORE_FULL');
    expect(codeOf(() => put(store, 'small'))).toBe('STORE_FULL');
    expect(count(store)).toBe(0);
    store.db.pragma('max_page_count = 1000000');
    clock.advance(5_000);
    put(store, 'small');
    expect(count(store)).toBe(1);
    await store[Symbol.asyncDispose]();
  });

  it('ST-02: another program that holds the file is STORE_BUSY, and the next try after it works', async () => {
    verifies('ST-02');
    const { store, paths, clock } = await opened();
    const sqlite = await loadSqlite();
    store.db.pragma('busy_timeout = 20');
    const other = new sqlite(paths.database);
    other.exec('BEGIN IMMEDIATE');
    expect(codeOf(() => put(store, 'x'))).toBe('STORE_BUSY');
    expect(store.state.get()).toEqual({ state: 'read-only', code: 'STORE_BUSY' });
    other.close();
    clock.advance(1_000);
    put(store, 'x');
    expect(store.state.get().state).toBe('ok');
    await store[Symbol.asyncDispose]();
  });

  it('ST-02: a file that lost its write right is STORE_READ_ONLY', async () => {
    verifies('ST-02');
    const { store } = await opened();
    store.db.pragma('query_only = ON');
    expect(codeOf(() => put(store, 'x'))).toBe('STORE_READ_ONLY');
    expect(count(store)).toBe(0);
    await store[Symbol.asyncDispose]();
  });

  it('tells watchers of the state, and runs what waits for a commit only after one', async () => {
    const { store } = await opened();
    const order: string[] = [];
    store.write(() => {
      store.afterCommit(() => order.push(`after ${store.db.inTransaction}`));
      store.write(() => order.push('inner'));
      order.push('end');
    });
    expect(order).toEqual(['inner', 'end', 'after false']);
    expect(
      codeOf(() =>
        store.write(() => {
          store.afterCommit(() => order.push('never'));
          throw new Error('rolled back');
        }),
      ),
    ).toContain('rolled back');
    expect(order).toHaveLength(3);
    // A listener that fails does not unsay what was committed, nor keep the next one from hearing it.
    store.write(() => {
      store.afterCommit(() => {
        throw new Error('listener');
      });
      store.afterCommit(() => order.push('heard'));
    });
    expect(order.at(-1)).toBe('heard');
    const states = store.state.watch();
    expect((await states.next()).value).toMatchObject({ value: { state: 'ok' } });
    store.db.pragma('query_only = ON');
    codeOf(() => put(store, 'x'));
    expect((await states.next()).value).toMatchObject({ value: { state: 'read-only', code: 'STORE_READ_ONLY' } });
    await store[Symbol.asyncDispose]();
  });
});
