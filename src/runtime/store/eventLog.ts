import type { Database } from 'better-sqlite3';
import {
  type DurableEvent,
  type DurableEventData,
  type DurableEventType,
  durableEventData,
  EphemeralEvent,
} from '../../shared/domain/events.ts';
import type { EventId, MessageId, SessionId, TurnId } from '../../shared/domain/ids.ts';
import { limits } from '../../shared/domain/limits.ts';
import { timestamp } from '../../shared/domain/time.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { Clock } from '../platform/ports.ts';
import { createEventIds } from './eventIds.ts';
import type { Store } from './open.ts';
import { createProjections, isKnownType, type ValidEvent, validEvent } from './projections.ts';

export type NewEvent = {
  [T in DurableEventType]: {
    readonly type: T;
    readonly data: DurableEventData<T>;
    readonly turnId?: TurnId;
    readonly messageId?: MessageId;
  };
}[DurableEventType];

/** The right of one attempt to write its turn (LE-02). */
export type Lease = { readonly generation: number; readonly token: string };

export type AppendOptions = {
  /** Needed for every event of a turn but its `input.message`. */
  readonly lease?: Lease;
  /** A driver may not write the types that projections trust (DR-07). */
  readonly by?: 'kernel' | 'driver';
};

export type EventLog = {
  /**
   * Stores a batch and its projections in one transaction, or joins the one that runs. Ids and sequences are given out here; watchers
   * hear of it after the commit.
   *
   * @throws AppError SESSION_NOT_FOUND, INVALID_APPEND, EVENT_TOO_LARGE, STALE_WRITER, STORE_*.
   */
  append(sessionId: SessionId, events: readonly NewEvent[], options?: AppendOptions): DurableEvent[];
  /** Oldest first, `after` < sequence ≤ `upTo`; ends early at about `pageBytes` of data, so an empty page means the end. */
  page(session: number, sessionId: SessionId, after: number, upTo: number, limit: number): DurableEvent[];
  /** Every event of a session in order; the visitor must not touch the database. */
  replay(session: number, sessionId: SessionId, visit: (event: DurableEvent) => void): void;
  /** Rebuilds what follows from the log of one session (EV-01). @returns sequences that could not be read. */
  rebuildProjections(sessionId: SessionId): number[];
  /** Called after each commit, in order. @returns takes the listener away. */
  onCommitted(listener: (sessionId: SessionId, events: readonly DurableEvent[]) => void): () => void;
};

/** Types whose `turn.started … end` bracket is checked (EV-05); what else names a turn lies inside it. */
const turnEnds: ReadonlySet<string> = new Set(['turn.completed', 'turn.failed', 'turn.cancelled']);
/** The one type that may follow the end of its turn (EV-05). */
const heardType = 'output.message.heard';
const needsTurn = /^(input|turn|reason|output|context)\./;
const reserved = /^(session|turn|input|task|wake|schedule|hook|guardrail|budget|memory|command)\.|^tool\.call_|^output\.message\.heard$/;
const ephemeralTypes: ReadonlySet<string> = new Set(EphemeralEvent.options.map((option) => option.shape.type.value));
/** An input is measured by its text (EV-16: 1 MiB); escapes make its JSON up to six times as long, and nobody is to blame for that. */
const maxInputEventBytes = 8 * limits.maxInputBytes;
/** A page of events ends here even below its limit: 500 events of 1 MiB are no page. */
const pageBytes = 4 * 1024 * 1024;

type TurnPhase = 'none' | 'waiting' | 'open' | 'ended';
type SessionRow = { no: number; last_sequence: number; log_bytes: number };
type RawEvent = [sequence: number, id: string, type: string, ts: string, turnId: string | null, messageId: string | null, data: string];

/** The event log by prepared statements (ST-03). */
export function createEventLog(store: Store, clock: Clock): EventLog {
  const { db } = store;
  const sessionOf = db.prepare<[string], SessionRow>('SELECT no, last_sequence, log_bytes FROM sessions WHERE id = ?');
  const turnOf = db.prepare<[string], { session: number; started_at: string | null; completed_at: string | null }>(
    'SELECT session, started_at, completed_at FROM turns WHERE id = ?',
  );
  const leaseHolds = db
    .prepare<[number, string, string, number], number>(
      `SELECT 1 FROM leases WHERE session = ? AND turn_id = ? AND token = ? AND generation = ?
         AND generation = (SELECT generation FROM runtime)`,
    )
    .pluck();
  const insert = db.prepare<[number, number, string, string, string, string | null, string | null, string]>(
    'INSERT INTO events (session, sequence, id, type, ts, turn_id, message_id, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const counted = db.prepare<[number, number, number]>('UPDATE sessions SET last_sequence = ?, log_bytes = ? WHERE no = ?');
  const columns = 'sequence, id, type, ts, turn_id, message_id, data';
  const read = rawStatement(
    db,
    `SELECT ${columns} FROM events WHERE session = ? AND sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?`,
  );
  const heardOf = db.prepare<[number, string, string], { heard: number | null }>(
    "SELECT heard FROM messages WHERE session = ? AND turn_id = ? AND id = ? AND role = 'assistant'",
  );
  const nextId = createEventIds();
  const projections = createProjections(db);
  const listeners = new Set<(sessionId: SessionId, events: readonly DurableEvent[]) => void>();

  function phaseOf(turnId: TurnId, session: number): TurnPhase {
    const turn = turnOf.get(turnId);
    if (turn === undefined) return 'none';
    if (turn.session !== session) throw refused('turn of another session');
    if (turn.completed_at !== null) return 'ended';
    return turn.started_at === null ? 'waiting' : 'open';
  }

  function appendNow(sessionId: SessionId, events: readonly NewEvent[], { lease, by = 'kernel' }: AppendOptions): DurableEvent[] {
    const session = sessionOf.get(sessionId);
    if (session === undefined) throw new AppError('SESSION_NOT_FOUND');
    const nowMs = clock.nowMs();
    const ts = timestamp(nowMs);
    const phases = new Map<TurnId, TurnPhase>();
    const done: DurableEvent[] = [];
    let sequence = session.last_sequence;
    let bytes = session.log_bytes;
    for (const event of events) {
      const turnId = turnIdOf(event);
      checkType(event.type, turnId, by, sequence);
      if (turnId !== null) {
        let phase = phases.get(turnId);
        if (phase === undefined) {
          phase = phaseOf(turnId, session.no);
          // Who says what was heard is no attempt of the turn, and the turn's lease has ended with it.
          if (event.type !== 'input.message' && event.type !== heardType) {
            if (lease === undefined) throw refused('an event of a turn needs its lease');
            if (leaseHolds.get(session.no, turnId, lease.token, lease.generation) === undefined) throw new AppError('STALE_WRITER');
          }
        }
        phases.set(turnId, nextPhase(event.type, phase));
        if (event.type === heardType && heardOf.get(session.no, turnId, event.data.message_id)?.heard !== null)
          throw refused('heard once, of a message of its turn');
      }
      const parsed = durableEventData[event.type].safeParse(event.data);
      if (!parsed.success) throw refused(`data of ${event.type}: ${parsed.error.issues[0]?.path.join('.') ?? ''}`);
      const data = JSON.stringify(parsed.data);
      bytes += checkSize(event.type, data);
      sequence += 1;
      const id = nextId(nowMs);
      const messageId = messageIdOf(event);
      insert.run(session.no, sequence, id, event.type, ts, turnId, messageId, data);
      projections.apply({ type: event.type, data: parsed.data, session: session.no, sequence, ts, turnId, messageId } as ValidEvent);
      done.push({
        id,
        type: event.type,
        ts,
        session_id: sessionId,
        sequence,
        context: contextOf(turnId, messageId),
        data: parsed.data as DurableEvent['data'],
      });
    }
    counted.run(sequence, bytes, session.no);
    if (listeners.size > 0)
      store.afterCommit(() => {
        for (const listener of listeners) listener(sessionId, done);
      });
    return done;
  }

  return {
    append: (sessionId, events, options = {}) => store.write(() => appendNow(sessionId, events, options)),
    page(session, sessionId, after, upTo, limit) {
      return store.read(() => {
        const page: DurableEvent[] = [];
        let bytes = 0;
        for (const row of read.iterate(session, after, upTo, limit)) {
          page.push(toEvent(row, sessionId));
          bytes += row[6].length;
          if (bytes >= pageBytes) break;
        }
        return page;
      });
    },
    replay(session, sessionId, visit) {
      store.read(() => {
        for (const row of read.iterate(session, 0, Number.MAX_SAFE_INTEGER, -1)) visit(toEvent(row, sessionId));
      });
    },
    rebuildProjections(sessionId) {
      return store.write(() => {
        const session = sessionOf.get(sessionId);
        if (session === undefined) throw new AppError('SESSION_NOT_FOUND');
        projections.clear(session.no);
        const skipped: number[] = [];
        let after = 0;
        for (;;) {
          const rows = [...read.iterate(session.no, after, Number.MAX_SAFE_INTEGER, 1_000)];
          if (rows.length === 0) return skipped;
          for (const row of rows) {
            after = row[0];
            if (!project(session.no, row)) skipped.push(row[0]);
          }
        }
      });
    },
    onCommitted(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };

  function project(session: number, [sequence, , type, ts, turnId, messageId, json]: RawEvent): boolean {
    const data = parse(json);
    const at = { session, sequence, type, ts, turnId: turnId as TurnId | null, messageId: messageId as MessageId | null };
    if (data !== null) {
      const valid = validEvent({ ...at, data });
      if (valid !== null) {
        projections.apply(valid);
        return true;
      }
      if (!isKnownType(type)) return true;
    }
    projections.applyUnreadable(at);
    return false;
  }
}

/** One row as readers get it. Data of a known type is not checked again: it was when it was written. */
function toEvent([sequence, id, type, ts, turnId, messageId, json]: RawEvent, sessionId: SessionId): DurableEvent {
  const data = parse(json);
  const event: DurableEvent = {
    id: id as EventId,
    type,
    ts,
    session_id: sessionId,
    sequence,
    context: contextOf(turnId as TurnId | null, messageId as MessageId | null),
    data: data ?? {},
  };
  if (data === null) event.unreadable = true;
  return event;
}

/** @returns null when the text is no JSON object: the row is damaged (EV-12). */
function parse(json: string): DurableEvent['data'] | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as DurableEvent['data']) : null;
  } catch {
    return null;
  }
}

function rawStatement(db: Database, sql: string) {
  return db.prepare<[number, number, number, number], RawEvent>(sql).raw();
}

function contextOf(turnId: TurnId | null, messageId: MessageId | null): DurableEvent['context'] {
  if (turnId === null) return {};
  return messageId === null ? { turn_id: turnId } : { turn_id: turnId, message_id: messageId };
}

function turnIdOf(event: NewEvent): TurnId | null {
  if (event.turnId !== undefined) return event.turnId;
  return 'turn_id' in event.data ? event.data.turn_id : null;
}

function messageIdOf(event: NewEvent): MessageId | null {
  if (event.messageId !== undefined) return event.messageId;
  if ('message' in event.data) return event.data.message.id;
  return 'message_id' in event.data ? event.data.message_id : null;
}

function checkType(type: string, turnId: TurnId | null, by: 'kernel' | 'driver', sequence: number): void {
  if (ephemeralTypes.has(type)) throw refused(`${type} is live only`);
  if (!isKnownType(type)) throw refused('unknown type');
  if (by === 'driver' && reserved.test(type)) throw refused(`${type} is reserved`);
  if ((type === 'session.started') !== (sequence === 0)) throw refused('session.started opens the log, once');
  if (turnId === null && needsTurn.test(type)) throw refused(`${type} belongs to a turn`);
  if (turnId !== null && type.startsWith('session.')) throw refused(`${type} belongs to no turn`);
}

/** EV-05. @returns where the turn stands after the event. */
function nextPhase(type: string, phase: TurnPhase): TurnPhase {
  if (type === 'input.message') {
    if (phase !== 'none') throw refused('the turn has its input');
    return 'waiting';
  }
  if (type === 'turn.started') {
    if (phase !== 'waiting') throw refused('a turn starts once, after its input');
    return 'open';
  }
  if (type === heardType) {
    if (phase !== 'ended') throw refused('what was heard is known after the end');
    return 'ended';
  }
  if (phase !== 'open') throw refused(phase === 'ended' ? 'the turn has ended' : 'the turn has not started');
  return turnEnds.has(type) ? 'ended' : 'open';
}

/** @returns bytes of UTF-8. */
function checkSize(type: string, data: string): number {
  const maxBytes = type === 'input.message' ? maxInputEventBytes : limits.maxEventBytes;
  const bytes = Buffer.byteLength(data, 'utf8');
  if (bytes > maxBytes) throw new AppError('EVENT_TOO_LARGE', { bytes, maxBytes });
  return bytes;
}

function refused(reason: string): AppError {
  return new AppError('INVALID_APPEND', { reason });
}
