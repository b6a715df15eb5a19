import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { timestamp } from '../../shared/domain/time.ts';
import type { Sqlite } from './sqlite.ts';

/** Backups kept; the oldest goes first. */
const kept = 5;
const name = /^sotto-v(\d+)-(\d{8}T\d{9})\.db$/;

export type Backup = { readonly file: string; readonly version: number; readonly at: string };

/** Backups of a folder, newest first, by their names; whether they are good is another question. */
export function listBackups(folder: string): Backup[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((entry) => {
      const [, version, stamp] = name.exec(entry) ?? [];
      return version === undefined || stamp === undefined ? [] : [{ file: join(folder, entry), version: Number(version), at: atOf(stamp) }];
    })
    .sort((a, b) => (a.at < b.at ? 1 : -1));
}

/**
 * A whole, compact copy of the open database, proven before it counts.
 *
 * @param nowMs  wall clock; becomes part of the name.
 * @throws SqliteError of the copy; a copy that fails its check is thrown away with an Error.
 */
export function backUp(sqlite: Sqlite, db: Database, folder: string, nowMs: number): Backup {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { backup, temporary } = placeFor(db, folder, nowMs);
  rmSync(temporary, { force: true });
  db.prepare('VACUUM INTO ?').run(temporary);
  return settle(sqlite, backup, temporary, folder);
}

/** The same beside running work, page by page: for the daily copy. */
export async function backUpSlowly(sqlite: Sqlite, db: Database, folder: string, nowMs: number): Promise<Backup> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { backup, temporary } = placeFor(db, folder, nowMs);
  rmSync(temporary, { force: true });
  await db.backup(temporary);
  return settle(sqlite, backup, temporary, folder);
}

/** The newest backup that opens and passes its check, no newer than `known`; null when there is none. */
export function newestGoodBackup(sqlite: Sqlite, folder: string, known: number): Backup | null {
  return listBackups(folder).find((backup) => backup.version <= known && isGood(sqlite, backup.file)) ?? null;
}

/** SQLite's own header and integrity check, on a connection that changes nothing. */
export function isGood(sqlite: Sqlite, file: string): boolean {
  let db: Database | undefined;
  try {
    db = new sqlite(file, { readonly: true, fileMustExist: true });
    db.pragma('temp_store = MEMORY');
    return db.pragma('quick_check(1)', { simple: true }) === 'ok';
  } catch {
    return false;
  } finally {
    db?.close();
  }
}

/**
 * The schema number as the file itself says, without SQLite: opening alone may write beside it, and a database of the future must
 * stay untouched byte for byte.
 *
 * @returns null when there is no file, or it is empty; NaN when it is no SQLite database.
 * @source  https://www.sqlite.org/fileformat2.html section 1.3: user version at offset 60, big-endian.
 */
export function headerVersion(file: string): number | null {
  if (!existsSync(file) || statSync(file).size === 0) return null;
  const header = Buffer.alloc(100);
  const fd = openSync(file, 'r');
  try {
    const read = readSync(fd, header, 0, 100, 0);
    if (read < 100 || header.toString('latin1', 0, 16) !== 'SQLite format 3\0') return Number.NaN;
    return header.readUInt32BE(60);
  } finally {
    closeSync(fd);
  }
}

function placeFor(db: Database, folder: string, nowMs: number): { backup: Backup; temporary: string } {
  const version = Number(db.pragma('user_version', { simple: true }));
  const at = timestamp(nowMs);
  const file = join(folder, `sotto-v${version}-${at.replaceAll(/[-:.Z]/g, '')}.db`);
  return { backup: { file, version, at }, temporary: `${file}.part` };
}

function settle(sqlite: Sqlite, backup: Backup, temporary: string, folder: string): Backup {
  if (!isGood(sqlite, temporary)) {
    rmSync(temporary, { force: true });
    throw new Error('the backup did not pass its integrity check');
  }
  flush(temporary);
  renameSync(temporary, backup.file);
  flush(dirname(backup.file));
  for (const old of listBackups(folder).slice(kept)) rmSync(old.file, { force: true });
  return backup;
}

/** fsync of a file or folder; folders cannot be opened on Windows, where renames are durable by themselves. */
export function flush(path: string): void {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return;
  }
  try {
    fsyncSync(fd);
  } catch {
    // Windows refuses to flush what was opened for reading.
  } finally {
    closeSync(fd);
  }
}

function atOf(stamp: string): string {
  const [, y, mo, d, h, mi, s, ms] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})$/.exec(stamp) ?? [];
  return `${y}-${mo}-${d}T${h}:${mi}:${s}.${ms}Z`;
}
