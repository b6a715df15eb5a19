import { parentPort, workerData } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { AppError, toAppError, type WireError } from '../../shared/errors/appError.ts';
import { storeFaultOf } from './guard.ts';
import { searchIn } from './search.ts';
import { loadSqlite } from './sqlite.ts';

/** Thread of long reads (ST-04): one read-only connection, one request at a time. `stop` becomes 1 when nobody waits any more. */
export type ReaderRequest = { readonly id: number; readonly words: string; readonly limit: number; readonly stop: SharedArrayBuffer };
export type ReaderReply =
  | { readonly id: number; readonly ok: true; readonly rows: SearchRow[] }
  | { readonly id: number; readonly ok: false; readonly error: WireError };

/** `text` holds the marks U+FDD0 and U+FDD1 around each hit. */
export type SearchRow = {
  readonly where: 'title' | 'message';
  readonly sessionId: string;
  readonly title: string | null;
  readonly inTrash: boolean;
  readonly turnId: string | null;
  readonly sequence: number | null;
  readonly text: string;
  readonly at: string;
};

const { database } = workerData as { database: string };
const port = parentPort;
if (port !== null) {
  const opened = open();
  const answer = async (request: ReaderRequest): Promise<ReaderReply> => {
    try {
      return { id: request.id, ok: true, rows: searchIn(await opened, request) };
    } catch (error) {
      const fault = storeFaultOf(error);
      return { id: request.id, ok: false, error: (fault === null ? toAppError(error) : new AppError(fault)).toWire() };
    }
  };
  port.on('message', (request: ReaderRequest) => {
    void answer(request).then((reply) => port.postMessage(reply));
  });
}

async function open(): Promise<Database> {
  const sqlite = await loadSqlite();
  const db = new sqlite(database, { readonly: true, fileMustExist: true, timeout: 1_000 });
  db.pragma('temp_store = MEMORY');
  db.pragma('query_only = ON');
  return db;
}
