import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { backUp, isGood, listBackups } from '../../../src/runtime/store/backup.ts';
import type { Migration } from '../../../src/runtime/store/migration.ts';
import { migrations } from '../../../src/runtime/store/migrations/index.ts';
import { loadSqlite } from '../../../src/runtime/store/sqlite.ts';
import { type AppError, isAppError } from '../../../src/shared/errors/appError.ts';
import { verifies } from '../../helpers/verifies.ts';
import { tempPaths } from '../agent/harness.ts';
import { open } from './helpers.ts';

type Paths = ReturnType<typeof tempPaths>;

async function failure(work: () => Promise<AsyncDisposable>): Promise<AppError> {
  try {
    await (await work())[Symbol.asyncDispose]();
  } catch (error) {
    if (isAppError(error)) return error;
    throw error;
  }
  throw new Error('it opened');
}

const sha = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Every file of the folder but the lock, with its bytes. */
function bytesOf(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('lock.db'))
      .map((entry) => [join(entry.parentPath, entry.name), sha(join(entry.parentPath, entry.name))]),
  );
}

const rows: Migration = {
  version: migrations.length + 1,
  name: 'rows',
  up: (db) => db.exec('CREATE TABLE extra (n INTEGER) STRICT; INSERT INTO extra SELECT no FROM sessions'),
};
const more = [...migrations, rows];

async function filled(paths: Paths, known = migrations): Promise<void> {
  const store = await open(paths, { migrations: known });
  store.db.exec(`
    INSERT INTO agents (id, newest_revision, created_at, updated_at) VALUES ('a', 1, 't', 't');
    INSERT INTO agent_revisions (id, agent_id, revision, definition, definition_hash, created_at, author) VALUES ('r', 'a', 1, '{}', 'h', 't', 'system');
    INSERT INTO sessions (id, agent_id, revision_id, revision, origin, metadata, start_digest, created_at, updated_at, title)
      VALUES ('chat', 'a', 'r', 1, 'app', '{}', '', 't', 't', 'Kept words');
  `);
  await store[Symbol.asyncDispose]();
}

const titleIn = async (paths: Paths, known = migrations, damaged: 'restore' | 'empty' | 'refuse' = 'refuse') => {
  const store = await open(paths, { migrations: known, damaged });
  const title = store.db.prepare('SELECT title FROM sessions').pluck().get();
  await store[Symbol.asyncDispose]();
  return title;
};

describe('openStore', () => {
  it('opens durable and strict: WAL, FULL, foreign keys, nothing beside the folder, owner only', async () => {
    verifies('EV-16');
    const paths = tempPaths();
    const store = await open(paths);
    const pragma = (name: string) => store.db.pragma(name, { simple: true });
    expect([pragma('journal_mode'), pragma('synchronous'), pragma('foreign_keys'), pragma('temp_store'), pragma('secure_delete')]).toEqual([
      'wal',
      2,
      1,
      2,
      1,
    ]);
    expect(pragma('user_version')).toBe(migrations.length);
    expect(statSync(paths.database).mode & 0o077).toBe(0);
    await store[Symbol.asyncDispose]();
  });

  it('raises the generation at every open', async () => {
    verifies('LE-02');
    const paths = tempPaths();
    const generations: number[] = [];
    for (let i = 0; i < 3; i++) {
      const store = await open(paths);
      generations.push(store.generation);
      await store[Symbol.asyncDispose]();
    }
    expect(generations).toEqual([1, 2, 3]);
  });

  it('ST-02: migrates a database with data of N-1, after a backup that holds exactly that data', async () => {
    verifies('ST-02');
    const paths = tempPaths();
    await filled(paths);
    expect(listBackups(paths.backups)).toEqual([]);
    expect(await titleIn(paths, more)).toBe('Kept words');
    const [backup] = listBackups(paths.backups);
    expect(backup?.version).toBe(migrations.length);
    const sqlite = await loadSqlite();
    expect(isGood(sqlite, backup?.file ?? '')).toBe(true);
    const copy = new sqlite(backup?.file ?? '', { readonly: true });
    expect(copy.prepare('SELECT title FROM sessions').pluck().get()).toBe('Kept words');
    expect(copy.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'").pluck().get()).toBe(0);
    copy.close();
  });

  it('ST-02: each step that shipped takes the data of the step before it along', async () => {
    verifies('ST-02');
    const paths = tempPaths();
    await filled(paths, migrations.slice(0, 1));
    for (let known = 2; known <= migrations.length; known++) expect(await titleIn(paths, migrations.slice(0, known))).toBe('Kept words');
  });

  it('ST-02: a step that fails leaves the number and the data of the step before', async () => {
    verifies('ST-02');
    const paths = tempPaths();
    await filled(paths);
    const broken: Migration = {
      ...rows,
      up(db) {
        db.exec('CREATE TABLE half (n INTEGER); DELETE FROM sessions');
        throw new Error('half way');
      },
    };
    await expect(open(paths, { migrations: [...migrations, broken] })).rejects.toThrow('half way');
    expect(await titleIn(paths)).toBe('Kept words');
  });

  it('a newer database is DB_FROM_FUTURE and stays untouched byte for byte', async () => {
    const paths = tempPaths();
    await filled(paths);
    await titleIn(paths, more);
    const before = bytesOf(paths.data);
    const error = await failure(() => open(paths));
    expect([error.code, error.data]).toEqual(['DB_FROM_FUTURE', { found: migrations.length + 1, known: migrations.length }]);
    expect(bytesOf(paths.data)).toEqual(before);
  });

  it('the same when the newer build died before its number left the write-ahead log', async () => {
    const paths = tempPaths();
    await filled(paths);
    const sqlite = await loadSqlite();
    const future = new sqlite(paths.database);
    future.pragma('wal_autocheckpoint = 0');
    future.pragma(`user_version = ${migrations.length + 1}`);
    // As the dead build left it: opening it for writing would already move the log into the file.
    const left = tempPaths();
    for (const end of ['', '-wal']) copyFileSync(paths.database + end, left.database + end);
    future.close();
    const before = [sha(left.database), sha(`${left.database}-wal`)];
    expect((await failure(() => open(left))).code).toBe('DB_FROM_FUTURE');
    expect([sha(left.database), sha(`${left.database}-wal`)]).toEqual(before);
  });

  it('a damaged file is moved aside whole, never replaced in silence, and a backup comes back on request', async () => {
    const paths = tempPaths();
    await filled(paths);
    await titleIn(paths, more);
    const fd = openSync(paths.database, 'r+');
    for (let page = 3; page < 12; page++) writeSync(fd, Buffer.alloc(4096, 0xa5), 0, 4096, page * 4096);
    const bytes = sha(paths.database);
    const error = await failure(() => open(paths, { migrations: more }));
    const [backup] = listBackups(paths.backups);
    expect(error.code).toBe('DB_DAMAGED');
    expect(error.data.backupAt).toBe(backup?.at);
    expect(sha(join(paths.data, String(error.data.movedTo)))).toBe(bytes);
    expect(existsSync(paths.database)).toBe(false);
    // Starting again must not show an empty app as if nothing had been there.
    expect((await failure(() => open(paths, { migrations: more }))).code).toBe('DB_DAMAGED');
    expect(await titleIn(paths, more, 'restore')).toBe('Kept words');
    expect(sha(join(paths.data, String(error.data.movedTo)))).toBe(bytes);
    expect(await titleIn(paths, more)).toBe('Kept words');
  });

  it('what is no database at all is damaged too; without a backup a person may start empty', async () => {
    const paths = tempPaths();
    await filled(paths);
    const fd = openSync(paths.database, 'r+');
    writeSync(fd, 'this is a letter, not a database', 0);
    const error = await failure(() => open(paths));
    expect([error.code, error.data.backupAt]).toEqual(['DB_DAMAGED', null]);
    expect((await failure(() => open(paths, { damaged: 'restore' }))).code).toBe('DB_DAMAGED');
    expect(await titleIn(paths, migrations, 'empty')).toBeUndefined();
    expect(readdirSync(paths.data).filter((name) => name.includes('.damaged-'))).not.toEqual([]);
  });

  it('an older Node is told before the library is touched, which would abort the process', async () => {
    for (const napi of ['9', '', 'x'])
      await expect(loadSqlite(napi)).rejects.toMatchObject({ code: 'NATIVE_ABI_MISMATCH', data: { library: 'better-sqlite3' } });
  });

  it('a second store in the same process is DATA_DIR_IN_USE, and the folder is free after the first one', async () => {
    const paths = tempPaths();
    const first = await open(paths);
    expect((await failure(() => open(paths))).code).toBe('DATA_DIR_IN_USE');
    await first[Symbol.asyncDispose]();
    await (await open(paths))[Symbol.asyncDispose]();
  });

  it('keeps the newest five backups', async () => {
    const paths = tempPaths();
    const sqlite = await loadSqlite();
    const store = await open(paths);
    for (let day = 1; day <= 7; day++) backUp(sqlite, store.db, paths.backups, Date.UTC(2026, 0, day));
    expect(listBackups(paths.backups).map((backup) => backup.at.slice(8, 10))).toEqual(['07', '06', '05', '04', '03']);
    await store[Symbol.asyncDispose]();
  });
});
