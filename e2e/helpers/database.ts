import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

type Value = string | number | bigint | Uint8Array | null;

/** Rows of a data folder's database, read beside whoever writes it. `[]` while there is none. */
export function rows(data: string, sql: string, ...values: string[]): Record<string, Value>[] {
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(path.join(data, 'sotto.db'), { readOnly: true });
    return db.prepare(sql).all(...values);
  } catch (error) {
    // Not there yet, or not open to readers at this moment: whoever asks polls.
    if (error instanceof Error && /unable to open|no such table|locked/.test(error.message)) return [];
    throw error;
  } finally {
    db?.close();
  }
}

/** What a page must never lose: every message of every chat, oldest first. */
export function messages(data: string): { role: string; text: string; turnId: string; interrupted: boolean }[] {
  return rows(data, 'SELECT role, text, turn_id, interrupted FROM messages ORDER BY session, sequence').map((row) => ({
    role: String(row['role']),
    text: String(row['text']),
    turnId: String(row['turn_id']),
    interrupted: row['interrupted'] === 1,
  }));
}

/** @throws Error with SQLite's own words if the file is damaged. */
export function checkIntegrity(data: string): void {
  const db = new DatabaseSync(path.join(data, 'sotto.db'));
  try {
    const found = db
      .prepare('PRAGMA integrity_check')
      .all()
      .map((row) => String(row['integrity_check']));
    const loose = db.prepare('PRAGMA foreign_key_check').all();
    if (found.join() !== 'ok' || loose.length > 0)
      throw new Error(`the database is damaged: ${found.join('; ')}, ${loose.length} loose rows`);
  } finally {
    db.close();
  }
}
