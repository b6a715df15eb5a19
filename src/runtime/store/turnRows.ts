import type { Database } from 'better-sqlite3';
import type { MessageId, SessionId, TurnId } from '../../shared/domain/ids.ts';
import type { Message } from '../../shared/domain/message.ts';
import type {
  StopReason,
  TranscriptMessage,
  Turn,
  TurnError,
  TurnResult,
  TurnStatus,
  TurnSummary,
  Usage,
} from '../../shared/domain/session.ts';
import type { Lease } from './eventLog.ts';

export type TurnRow = {
  no: number;
  id: TurnId;
  session: number;
  session_id: SessionId;
  idempotency_key: string;
  input_digest: string;
  input: string;
  input_sequence: number;
  retry_of: TurnId | null;
  status: TurnStatus;
  attempt: number;
  idle_resumes: number;
  waiting_on: 'needs_reconciliation' | null;
  result: string | null;
  error: string | null;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
};

export type MessageRow = {
  sequence: number;
  id: MessageId;
  turn_id: TurnId;
  role: TranscriptMessage['role'];
  text: string;
  at: string;
  interrupted: number;
  unreadable: number;
  superseded_by: TurnId | null;
  heard: number | null;
};

export type Partial = { turn_id: TurnId; message_id: MessageId; text: string; at: string; heard: number | null };

export type TurnRows = {
  get(id: TurnId): TurnRow | undefined;
  byKey(session: number, key: string): TurnRow | undefined;
  /** The turn of the session that is queued, running or cancelling. */
  open(session: number): TurnRow | undefined;
  /** Every open turn, oldest first. */
  allOpen(): TurnRow[];
  oldestQueued(): TurnRow | undefined;
  /** When the turn last wrote anything, as far as the store knows. */
  lastSign(turn: TurnRow): string;
  takeLease(turn: TurnRow, lease: Lease, at: string): void;
  dropLease(session: number): void;
  /** Text of a growing answer, and how much of it was heard if that is known, only while the lease holds. */
  savePartial(turn: TurnRow, partial: Omit<Partial, 'turn_id'>, lease: Lease): void;
  partial(turn: TurnId): Partial | undefined;
  dropPartial(turn: TurnId): void;
  /** Newest first: messages before `before`, with whether the log can still be read there. */
  messagesBefore(session: number, before: number, limit: number): MessageRow[];
  /** Newest first: what a model may read of the turns before `before` and not before `from`. */
  historyBefore(session: number, before: number, from: number, limit: number): HistoryRow[];
  countHistory(session: number, before: number, from: number): number;
  byIds(ids: readonly TurnId[]): TurnRow[];
  hasCompleted(session: number): boolean;
  /** The reply of a turn, or what was said of it. */
  reply(turn: TurnId): Message | null;
  /** How much of a message was heard; null = nobody said. */
  heard(session: number, message: MessageId): number | null;
  /** Whether its message was spoken. */
  isSpoken(turn: TurnRow): boolean;
  /** Why a turn was asked to end, as its `turn.cancelling` says. */
  cancelReason(turn: TurnRow): string | null;
};

export type HistoryRow = {
  sequence: number;
  turn_id: TurnId;
  role: 'user' | 'assistant' | 'system';
  text: string;
  created_at: string;
  heard: number | null;
};

const turnColumns = `SELECT t.*, s.id AS session_id FROM turns t JOIN sessions s ON s.no = t.session`;
/** Turns that a model does not read again: replaced ones, and those whose message was too long for it. */
const readable = `m.superseded_by IS NULL AND m.unreadable = 0 AND m.text <> ''
  AND NOT (t.status = 'failed' AND t.error ->> 'code' IS 'CONTEXT_OVERFLOW')`;

export const turnSql = {
  messages: `SELECT m.sequence, m.id, m.turn_id, m.role, CASE WHEN json_valid(e.data) THEN m.text ELSE '' END AS text, m.at, m.interrupted,
      m.unreadable OR NOT json_valid(e.data) AS unreadable, m.superseded_by, m.heard
    FROM messages m JOIN events e ON e.session = m.session AND e.sequence = m.sequence
    WHERE m.session = ? AND m.sequence < ? ORDER BY m.sequence DESC LIMIT ?`,
  history: `SELECT m.sequence, m.turn_id, m.role, m.text, t.created_at, m.heard FROM messages m JOIN turns t ON t.id = m.turn_id
    WHERE m.session = ? AND m.sequence < ? AND m.sequence >= ? AND ${readable} ORDER BY m.sequence DESC LIMIT ?`,
  open: `${turnColumns} WHERE t.session = ? AND t.status IN ('queued', 'running', 'cancelling')`,
  allOpen: `${turnColumns} WHERE t.status IN ('queued', 'running', 'cancelling') ORDER BY t.created_at, t.no`,
  byKey: `${turnColumns} WHERE t.session = ? AND t.idempotency_key = ?`,
} as const;

export function createTurnRows(db: Database): TurnRows {
  const byId = db.prepare<[string], TurnRow>(`${turnColumns} WHERE t.id = ?`);
  const byKey = db.prepare<[number, string], TurnRow>(turnSql.byKey);
  const open = db.prepare<[number], TurnRow>(turnSql.open);
  const allOpen = db.prepare<[], TurnRow>(turnSql.allOpen);
  const oldestQueued = db.prepare<[], TurnRow>(`${turnColumns} WHERE t.status = 'queued' ORDER BY t.created_at, t.no LIMIT 1`);
  const lastEvent = db
    .prepare<[number, number, string], string>('SELECT max(ts) FROM events WHERE session = ? AND sequence >= ? AND turn_id = ?')
    .pluck();
  const takeLease = db.prepare<[number, string, number, string, string]>(
    `INSERT INTO leases (session, turn_id, generation, token, taken_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (session) DO UPDATE SET turn_id = excluded.turn_id, generation = excluded.generation, token = excluded.token, taken_at = excluded.taken_at`,
  );
  const dropLease = db.prepare<[number]>('DELETE FROM leases WHERE session = ?');
  const savePartial = db.prepare<[string, number, string, string, string, number | null, number, string, number]>(
    `INSERT INTO partials (turn_id, session, message_id, text, at, heard) SELECT ?, ?, ?, ?, ?, ?
     WHERE EXISTS (SELECT 1 FROM leases WHERE session = ? AND token = ? AND generation = ?)
     ON CONFLICT (turn_id) DO UPDATE SET message_id = excluded.message_id, text = excluded.text, at = excluded.at, heard = excluded.heard`,
  );
  const partial = db.prepare<[string], Partial>('SELECT turn_id, message_id, text, at, heard FROM partials WHERE turn_id = ?');
  const dropPartial = db.prepare<[string]>('DELETE FROM partials WHERE turn_id = ?');
  const messages = db.prepare<[number, number, number], MessageRow>(turnSql.messages);
  const history = db.prepare<[number, number, number, number], HistoryRow>(turnSql.history);
  const countHistory = db
    .prepare<[number, number, number], number>(
      `SELECT count(*) FROM messages m JOIN turns t ON t.id = m.turn_id WHERE m.session = ? AND m.sequence < ? AND m.sequence >= ? AND ${readable}`,
    )
    .pluck();
  const byIds = db.prepare<[string], TurnRow>(`${turnColumns} WHERE t.id IN (SELECT value FROM json_each(?)) ORDER BY t.input_sequence`);
  const reply = db.prepare<[string], { id: MessageId; text: string }>(
    "SELECT id, text FROM messages WHERE turn_id = ? AND role = 'assistant' AND text <> '' ORDER BY sequence DESC LIMIT 1",
  );
  const heard = db.prepare<[number, string], number | null>('SELECT heard FROM messages WHERE session = ? AND id = ?').pluck();
  const source = db
    .prepare<[number, number], string | null>(
      "SELECT data ->> 'source' FROM events WHERE session = ? AND sequence = ? AND json_valid(data)",
    )
    .pluck();
  const cancelReason = db
    .prepare<[number, number, string], string | null>(
      `SELECT data ->> 'reason' FROM events WHERE session = ? AND sequence > ? AND turn_id = ? AND type = 'turn.cancelling'
       AND json_valid(data) LIMIT 1`,
    )
    .pluck();
  const hasCompleted = db.prepare<[number], number>("SELECT 1 FROM turns WHERE session = ? AND status = 'completed' LIMIT 1").pluck();

  return {
    get: (id) => byId.get(id),
    byKey: (session, key) => byKey.get(session, key),
    open: (session) => open.get(session),
    allOpen: () => allOpen.all(),
    oldestQueued: () => oldestQueued.get(),
    lastSign(turn) {
      const event = lastEvent.get(turn.session, turn.input_sequence, turn.id) ?? turn.created_at;
      const shown = partial.get(turn.id)?.at ?? '';
      return event > shown ? event : shown;
    },
    takeLease: (turn, lease, at) => takeLease.run(turn.session, turn.id, lease.generation, lease.token, at),
    dropLease: (session) => dropLease.run(session),
    savePartial: (turn, { message_id: messageId, text, at, heard: units }, lease) =>
      savePartial.run(turn.id, turn.session, messageId, text, at, units, turn.session, lease.token, lease.generation),
    partial: (id) => partial.get(id),
    dropPartial: (id) => dropPartial.run(id),
    messagesBefore: (session, before, limit) => messages.all(session, before, limit),
    historyBefore: (session, before, from, limit) => history.all(session, before, from, limit),
    countHistory: (session, before, from) => countHistory.get(session, before, from) ?? 0,
    byIds: (ids) => byIds.all(JSON.stringify(ids)),
    hasCompleted: (session) => hasCompleted.get(session) === 1,
    reply(turn) {
      const row = reply.get(turn);
      return row === undefined ? null : { id: row.id, role: 'assistant', content: [{ type: 'text', text: row.text }] };
    },
    heard: (session, message) => heard.get(session, message) ?? null,
    isSpoken: (turn) => source.get(turn.session, turn.input_sequence) === 'voice',
    cancelReason: (turn) => cancelReason.get(turn.session, turn.input_sequence, turn.id) ?? null,
  };
}

type StoredResult = { stop_reason: StopReason; usage?: Usage };

/** TU-02. `message` is the final reply, which lives in the transcript. */
export function toTurn(row: TurnRow, message: Message | null): Turn {
  const result = row.result === null ? null : (JSON.parse(row.result) as StoredResult);
  return {
    id: row.id,
    sessionId: row.session_id,
    idempotencyKey: row.idempotency_key,
    inputDigest: row.input_digest,
    status: row.status,
    input: JSON.parse(row.input) as Message,
    result: result === null ? null : toResult(result, message),
    error: row.error === null ? null : (JSON.parse(row.error) as TurnError),
    attempt: row.attempt,
    createdAt: row.created_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    waitingOn: row.waiting_on,
    retryOf: row.retry_of,
  };
}

export function toSummary(row: TurnRow): TurnSummary {
  const result = row.result === null ? null : (JSON.parse(row.result) as StoredResult);
  return {
    id: row.id,
    status: row.status,
    error: row.error === null ? null : (JSON.parse(row.error) as TurnError),
    attempt: row.attempt,
    createdAt: row.created_at,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    waitingOn: row.waiting_on,
    retryOf: row.retry_of,
    usage: result?.usage ?? null,
    stopReason: result?.stop_reason ?? null,
  };
}

function toResult(stored: StoredResult, message: Message | null): TurnResult {
  return {
    ...(message === null ? {} : { message }),
    metadata: {},
    ...(stored.usage === undefined ? {} : { usage: stored.usage }),
    stop_reason: stored.stop_reason,
  };
}
