import type { Database } from 'better-sqlite3';
import type { LedgerRow } from '../../shared/contract/ledger.ts';
import { timestamp } from '../../shared/domain/time.ts';
import type { Clock, OutboundReason } from '../platform/ports.ts';

/** Who speaks to whom and why. Neither path, query nor body is ever given (PV-04). */
export type LedgerEntry = {
  readonly reason: OutboundReason;
  readonly host: string;
  readonly port: number | null;
  readonly asker: string;
  readonly note?: string;
};

export type LedgerEnd = { readonly result: 'ok' | 'failed'; readonly sentBytes: number | null; readonly receivedBytes: number | null };

/** The record of all outbound requests; rows live 90 days. */
export type Ledger = {
  /** Writes the row of a request that is about to start and returns its id. It is on disk when this returns. */
  open(entry: LedgerEntry): number;
  /** Writes the row of a request that was not let out. */
  refuse(entry: LedgerEntry): void;
  close(id: number, end: LedgerEnd): void;
  /** Newest first. `before` is the id of the last row of the page before. */
  list(page: { limit: number; before?: number | undefined }): { rows: LedgerRow[]; nextBefore: number | null };
};

const keepMs = 90 * 24 * 60 * 60_000;
const pruneEveryMs = 24 * 60 * 60_000;

type Row = {
  id: number;
  at: number;
  reason: OutboundReason;
  host: string;
  port: number | null;
  asker: string;
  sent_bytes: number | null;
  received_bytes: number | null;
  result: LedgerRow['result'];
  note: string | null;
};

/**
 * @param deps.db     the store's connection; its writes are durable when a call returns.
 * @param deps.clock  wall clock for `at` and for the age of rows.
 */
export function createLedger(deps: { db: Database; clock: Clock }): Ledger {
  const { db, clock } = deps;
  const insert = db.prepare<[number, OutboundReason, string, number | null, string, LedgerRow['result'], string | null]>(
    'INSERT INTO ledger (at, reason, host, port, asker, result, note) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const finish = db.prepare<[LedgerEnd['result'], number | null, number | null, number]>(
    "UPDATE ledger SET result = ?, sent_bytes = ?, received_bytes = ? WHERE id = ? AND result = 'open'",
  );
  const drop = db.prepare<[number]>('DELETE FROM ledger WHERE at < ?');
  const page = db.prepare<[number, number], Row>('SELECT * FROM ledger WHERE id < ? ORDER BY id DESC LIMIT ?');
  let prunedAt = Number.NEGATIVE_INFINITY;

  const write = (entry: LedgerEntry, result: LedgerRow['result']) => {
    const now = clock.nowMs();
    if (now - prunedAt >= pruneEveryMs) {
      prunedAt = now;
      drop.run(now - keepMs);
    }
    const { lastInsertRowid } = insert.run(now, entry.reason, entry.host, entry.port, entry.asker, result, entry.note ?? null);
    return Number(lastInsertRowid);
  };

  return {
    open: (entry) => write(entry, 'open'),
    refuse: (entry) => void write(entry, 'refused'),
    close: (id, end) => void finish.run(end.result, end.sentBytes, end.receivedBytes, id),
    list({ limit, before }) {
      const found = page.all(before ?? Number.MAX_SAFE_INTEGER, limit + 1);
      const rows = found.slice(0, limit).map(shown);
      return { rows, nextBefore: found.length > limit ? (rows.at(-1)?.id ?? null) : null };
    },
  };
}

function shown(row: Row): LedgerRow {
  return {
    id: row.id,
    at: timestamp(row.at),
    reason: row.reason,
    host: row.host,
    port: row.port,
    asker: row.asker,
    sentBytes: row.sent_bytes,
    receivedBytes: row.received_bytes,
    result: row.result,
    note: row.note,
  };
}
