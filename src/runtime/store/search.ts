import type { Database, Statement } from 'better-sqlite3';
import { AppError } from '../../shared/errors/appError.ts';
import type { ReaderRequest, SearchRow } from './readerWorker.ts';

/** Noncharacters of Unicode: they cannot be part of a text that anybody meant. */
export const markStart = '\uFDD0';
export const markEnd = '\uFDD1';

type Row = Omit<SearchRow, 'inTrash'> & { inTrash: number };
type Prepared = { readonly titles: Statement<[string, number], Row>; readonly messages: Statement<[string, number], Row> };

const prepared = new WeakMap<Database, Prepared>();
const flags = new WeakMap<Database, { stop: Int32Array }>();

/**
 * Title hits first, then messages by rank.
 *
 * `alive()` stands in the query so that a dropped search ends at its next row: SQLite cannot be interrupted from outside, and ordering
 * by `bm25()` rather than `rank` keeps the sorting on this side of the full-text table.
 */
export function searchIn(db: Database, request: Pick<ReaderRequest, 'words' | 'limit' | 'stop'>): SearchRow[] {
  const query = matchOf(request.words);
  if (query === null) return [];
  const statements = statementsOf(db, new Int32Array(request.stop));
  const rows = [...statements.titles.all(query, request.limit + 1), ...statements.messages.all(query, request.limit + 1)];
  return rows.slice(0, request.limit + 1).map((row) => ({ ...row, inTrash: row.inTrash === 1 }));
}

/**
 * What a person typed as a full-text query: every word must be there, the last one as a beginning. Operators and quotes lose their
 * meaning, so no text is a wrong query.
 *
 * @returns null when there is no word in it.
 */
export function matchOf(words: string): string | null {
  const list = words.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  if (list.length === 0) return null;
  return list.map((word, index) => `"${word.replaceAll('"', '""')}"${index === list.length - 1 ? '*' : ''}`).join(' AND ');
}

function statementsOf(db: Database, stop: Int32Array): Prepared {
  const flag = flags.get(db);
  if (flag !== undefined) flag.stop = stop;
  const ready = prepared.get(db);
  if (ready !== undefined) return ready;
  const current = { stop };
  flags.set(db, current);
  db.function('alive', { deterministic: false }, () => {
    if (Atomics.load(current.stop, 0) !== 0) throw new AppError('CANCELLED');
    return 1;
  });
  const made: Prepared = {
    titles: db.prepare(`
      SELECT 'title' AS "where", s.id AS sessionId, s.title AS title, s.trashed_at IS NOT NULL AS inTrash, NULL AS turnId, NULL AS sequence,
             highlight(titles_fts, 0, char(64976), char(64977)) AS text, s.updated_at AS at
      FROM titles_fts JOIN sessions s ON s.no = titles_fts.rowid
      WHERE titles_fts MATCH ? AND alive()
      ORDER BY bm25(titles_fts), s.no DESC LIMIT ?`),
    messages: db.prepare(`
      SELECT 'message' AS "where", s.id AS sessionId, s.title AS title, s.trashed_at IS NOT NULL AS inTrash, m.turn_id AS turnId, m.sequence AS sequence,
             snippet(messages_fts, 0, char(64976), char(64977), '…', 24) AS text, m.at AS at
      FROM messages_fts JOIN messages m ON m.no = messages_fts.rowid JOIN sessions s ON s.no = m.session
      WHERE messages_fts MATCH ? AND alive()
      ORDER BY bm25(messages_fts), m.no DESC LIMIT ?`),
  };
  prepared.set(db, made);
  return made;
}
