import type { TurnReceipt } from '../../shared/contract/turns.ts';
import { newId, type SessionId, type TurnId } from '../../shared/domain/ids.ts';
import { limits } from '../../shared/domain/limits.ts';
import { type Message, type MessagePart, plainText } from '../../shared/domain/message.ts';
import type { TranscriptMessage, Turn, TurnSummary } from '../../shared/domain/session.ts';
import { AppError } from '../../shared/errors/appError.ts';
import { crashPoint } from '../../shared/util/crashPoint.ts';
import { detach } from '../../shared/util/detach.ts';
import type { NewEvent } from '../store/eventLog.ts';
import { isStoreFault } from '../store/guard.ts';
import { inputDigest } from '../store/projections.ts';
import type { SessionRow } from '../store/sessionRows.ts';
import { type MessageRow, type TurnRow, toSummary, toTurn } from '../store/turnRows.ts';
import { readWalk, walkCursor } from './cursors.ts';
import type { Kernel } from './kernel.ts';
import { cancelledEvent, failedEvent, heardEvent, type Runs } from './runs.ts';

export type HistoryPage = {
  messages: TranscriptMessage[];
  turns: TurnSummary[];
  sequence: number;
  olderCursor: string | null;
};

export type Turns = {
  /**
   * Stores the message and its turn in one transaction, then starts it when a slot is free (TU-04). The turn outlives its caller. A turn
   * of the session that waits for a decision is settled first (RE-05).
   *
   * @throws AppError SESSION_NOT_FOUND, TURN_ACTIVE, IDEMPOTENCY_KEY_REUSED, SESSION_LOG_TOO_LARGE, EVENT_TOO_LARGE, INVALID_INPUT, STORE_*.
   */
  send(input: SendInput): TurnReceipt;
  /** The same input as a new turn; the old exchange is folded away. @throws as `send`, and TURN_NOT_FOUND. */
  retry(input: { sessionId: SessionId; turnId: TurnId; idempotencyKey?: string | undefined }): TurnReceipt;
  /** @throws AppError SESSION_NOT_FOUND, TURN_MISMATCH, NO_ACTIVE_TURN */
  cancel(input: CancelInput): { turnId: TurnId; status: 'cancelling' | 'cancelled' };
  /**
   * How much of a spoken answer was heard, in UTF-16 units of its text (MP-07): stored once, with the end of the turn or after it, and
   * when the store can write again. Without an answer nothing is stored.
   *
   * @throws AppError SESSION_NOT_FOUND, TURN_NOT_FOUND
   */
  heard(input: { sessionId: SessionId; turnId: TurnId; units: number }): void;
  /** @throws AppError SESSION_NOT_FOUND, TURN_NOT_FOUND */
  get(sessionId: SessionId, turnId: TurnId): Turn;
  /** What a person decides of an interrupted turn. @throws AppError SESSION_NOT_FOUND, TURN_NOT_FOUND, TURN_MISMATCH */
  decide(input: { sessionId: SessionId; turnId: TurnId; choice: 'resume' | 'stop' }): Turn;
  /** @throws AppError SESSION_NOT_FOUND, HISTORY_TOO_LARGE, CURSOR_* */
  history(input: { sessionId: SessionId; limit: number; cursor?: string | undefined }): HistoryPage;
};

type SendInput = {
  readonly sessionId: SessionId;
  readonly content: string | readonly MessagePart[];
  readonly idempotencyKey?: string | undefined;
  /** How it came; left out: typed. */
  readonly source?: 'voice' | undefined;
  /** A turn of the session whose words this message begins with: its exchange is folded away. */
  readonly replaces?: TurnId | undefined;
};

type CancelInput = {
  readonly sessionId: SessionId;
  readonly turnId?: TurnId | undefined;
  /** Why, as `turn.cancelled` names it; left out: somebody asked. */
  readonly reason?: string | undefined;
};

type Accepted = {
  readonly sessionId: SessionId;
  readonly content: Message['content'];
  readonly key: string | undefined;
  readonly retryOf: TurnId | null;
  readonly source: 'text' | 'voice';
  readonly replaces: TurnId | undefined;
};

/** A page of messages ends here even below its limit. */
const pageUnits = 4 * 1024 * 1024;

export function createTurns(kernel: Kernel, runs: Runs): Turns {
  const { store, clock, events, turns } = kernel;

  function turnOf(row: TurnRow): Turn {
    return toTurn(row, turns.reply(row.id));
  }

  function find(sessionId: SessionId, turnId: TurnId): TurnRow {
    kernel.session(sessionId);
    const row = store.read(() => turns.get(turnId));
    if (row === undefined || row.session_id !== sessionId) throw new AppError('TURN_NOT_FOUND');
    return row;
  }

  function accept({ sessionId, content, key, retryOf, source, replaces }: Accepted): TurnReceipt {
    if (kernel.closing.aborted) throw new AppError('SHUTTING_DOWN');
    const nowMs = clock.nowMs();
    const turnId = newId('turn', nowMs);
    const receipt = store.write(() => {
      const session = kernel.session(sessionId);
      if (session.trashed_at !== null) throw new AppError('SESSION_NOT_FOUND');
      const known = key === undefined ? undefined : turns.byKey(session.no, key);
      if (known !== undefined) {
        if (known.input_digest !== inputDigest(content, retryOf)) throw new AppError('IDEMPOTENCY_KEY_REUSED');
        return receiptOf(known, true);
      }
      if (replaces !== undefined) find(sessionId, replaces);
      makeRoom(session, source);
      if (session.log_bytes >= limits.logBytes || session.last_sequence >= limits.logEvents) throw new AppError('SESSION_LOG_TOO_LARGE');
      const starts = runs.hasSlot();
      const input: NewEvent = {
        type: 'input.message',
        turnId,
        data: {
          message: { id: newId('msg', nowMs), role: 'user', content },
          delivery: starts ? 'started' : 'queued',
          source,
          idempotency_key: key ?? turnId,
          ...(retryOf === null ? {} : { retry_of: retryOf }),
          ...(replaces === undefined ? {} : { replaces }),
        },
      };
      events.append(sessionId, [input]);
      const row = turns.get(turnId);
      if (row === undefined) throw new Error('the turn of an accepted message is missing');
      if (starts) runs.start(row);
      crashPoint('turn.beforeCommit');
      return receiptOf(turns.get(turnId) ?? row, false);
    });
    crashPoint('turn.afterInput');
    return receipt;
  }

  /**
   * One turn at a time: an open one refuses the message, unless it only waits for a decision, which the message then is (RE-05). Who
   * cuts an answer short by talking does not wait for the model to notice: what was said can't be typed again.
   */
  function makeRoom(session: SessionRow, source: Accepted['source']): void {
    const open = turns.open(session.no);
    if (open === undefined) return;
    if (source === 'voice' && open.status === 'cancelling' && runs.giveUp(open.id)) return;
    if (open.waiting_on === null) throw new AppError('TURN_ACTIVE', { turnId: open.id });
    settle(open, [failedEvent(open.id, new AppError('INTERRUPTED'))]);
  }

  /** Ends a turn that nobody runs. */
  function settle(turn: TurnRow, list: readonly NewEvent[]): void {
    const lease = runs.seize(turn);
    events.append(turn.session_id, list, { lease });
    turns.dropPartial(turn.id);
    turns.dropLease(turn.session);
  }

  function receiptOf(row: TurnRow, duplicate: boolean): TurnReceipt {
    return { turnId: row.id, delivery: row.status === 'queued' ? 'queued' : 'started', duplicate, turn: turnOf(row) };
  }

  function cancelNow(open: TurnRow, reason: string | undefined): 'cancelling' | 'cancelled' {
    if (open.status === 'cancelling') return 'cancelling';
    const asked: NewEvent = {
      type: 'turn.cancelling',
      data: { turn_id: open.id, by: 'owner', ...(reason === undefined ? {} : { reason }) },
    };
    const lease = runs.leaseOf(open.id);
    if (lease !== undefined) {
      events.append(open.session_id, [asked], { lease });
      store.afterCommit(() => {
        crashPoint('turn.afterCancelling');
        runs.abort(open.id);
      });
      return 'cancelling';
    }
    // It waits in the queue or for a decision. Every end in the log has its start (EV-05), so a turn that never ran gets both at once.
    const started: NewEvent = {
      type: 'turn.started',
      data: { turn_id: open.id, attempt: open.attempt, idempotency_key: open.idempotency_key },
    };
    settle(open, [...(open.status === 'queued' ? [started] : []), asked, cancelledEvent(open.id, undefined, reason)]);
    return 'cancelled';
  }

  function noteHeard(sessionId: SessionId, turnId: TurnId, units: number): void {
    store.write(() => {
      const turn = find(sessionId, turnId);
      if (turn.completed_at === null) return runs.heard(turnId, units);
      const message = turns.reply(turnId);
      if (message === null || turns.heard(turn.session, message.id) !== null) return;
      crashPoint('turn.beforeHeard');
      events.append(sessionId, [heardEvent(turnId, message.id, plainText(message), units)]);
    });
  }

  async function noteHeardLater(sessionId: SessionId, turnId: TurnId, units: number): Promise<void> {
    for await (const { value } of store.state.watch(kernel.closing)) if (value.state === 'ok') return noteHeard(sessionId, turnId, units);
  }

  return {
    send({ sessionId, content, idempotencyKey, source, replaces }) {
      return accept({
        sessionId,
        content: checkedContent(content),
        key: idempotencyKey,
        retryOf: null,
        source: source ?? 'text',
        replaces,
      });
    },
    retry({ sessionId, turnId, idempotencyKey }) {
      const old = find(sessionId, turnId);
      const { content } = JSON.parse(old.input) as Message;
      return accept({ sessionId, content, key: idempotencyKey, retryOf: turnId, source: 'text', replaces: undefined });
    },
    cancel({ sessionId, turnId, reason }) {
      return store.write(() => {
        const session = kernel.session(sessionId);
        const open = turns.open(session.no);
        if (open === undefined) {
          // Cancelling twice is the same as once (CA-05).
          const named = turnId === undefined ? undefined : turns.get(turnId);
          if (named?.session === session.no && named.status === 'cancelled') return { turnId: named.id, status: 'cancelled' as const };
          throw new AppError('NO_ACTIVE_TURN');
        }
        if (turnId !== undefined && open.id !== turnId) throw new AppError('TURN_MISMATCH', { activeTurnId: open.id });
        return { turnId: open.id, status: cancelNow(open, reason) };
      });
    },
    heard({ sessionId, turnId, units }) {
      try {
        noteHeard(sessionId, turnId, units);
      } catch (error) {
        if (!isStoreFault(error)) throw error;
        detach(noteHeardLater(sessionId, turnId, units), kernel.log, 'agent.heard');
      }
    },
    get: (sessionId, turnId) => turnOf(find(sessionId, turnId)),
    decide({ sessionId, turnId, choice }) {
      const decided = store.write(() => {
        const turn = find(sessionId, turnId);
        if (turn.waiting_on === null) throw new AppError('TURN_MISMATCH', { activeTurnId: turns.open(turn.session)?.id ?? '' });
        if (choice === 'resume') runs.resume(turn);
        else cancelNow(turn, undefined);
        return turnOf(find(sessionId, turnId));
      });
      runs.pump();
      return decided;
    },
    history({ sessionId, limit, cursor }) {
      const session = kernel.session(sessionId);
      const here = { id: sessionId, no: session.no, lastSequence: session.last_sequence };
      const walk = cursor === undefined ? null : readWalk(cursor, 'history', here);
      const pin = walk?.pin ?? session.last_sequence;
      const before = walk?.at ?? pin + 1;
      const rows = store.read(() => turns.messagesBefore(session.no, before, limit + 1));
      const { page, more } = cutPage(rows, limit);
      const oldest = page.at(-1)?.sequence;
      // A page is told from the raw events it spans; beyond the bound a reader must list events instead (EV-09).
      if (oldest !== undefined && before - oldest > limits.replayEvents) throw new AppError('HISTORY_TOO_LARGE');
      kernel.noteDamage(
        sessionId,
        page.filter((row) => row.unreadable !== 0).map((row) => row.sequence),
      );
      const messages = page.reverse().map(toMessage);
      return {
        messages,
        turns: store.read(() => turns.byIds([...new Set(messages.map((message) => message.turnId))])).map(toSummary),
        sequence: pin,
        olderCursor: more && oldest !== undefined ? walkCursor('history', { s: sessionId, no: session.no, at: oldest, pin }) : null,
      };
    },
  };
}

/**
 * Content as it is stored: one text part for a bare text, and whole characters only. Half a surrogate pair has no UTF-8 form: it becomes
 * U+FFFD here, once, instead of something else in each place that writes it.
 */
function checkedContent(content: string | readonly MessagePart[]): Message['content'] {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const clean = parts.map((part) => ({ ...part, text: part.text.toWellFormed() }));
  if (clean.every((part) => part.text.trim() === '')) throw new AppError('INVALID_INPUT', { field: 'content', reason: 'empty' });
  const bytes = clean.reduce((sum, part) => sum + Buffer.byteLength(part.text, 'utf8'), 0);
  if (bytes > limits.maxInputBytes) throw new AppError('EVENT_TOO_LARGE', { bytes, maxBytes: limits.maxInputBytes });
  return clean;
}

function cutPage(rows: MessageRow[], limit: number): { page: MessageRow[]; more: boolean } {
  let units = 0;
  const page: MessageRow[] = [];
  for (const row of rows.slice(0, limit)) {
    units += row.text.length;
    if (page.length > 0 && units > pageUnits) break;
    page.push(row);
  }
  return { page, more: rows.length > page.length };
}

function toMessage(row: MessageRow): TranscriptMessage {
  return {
    id: row.id,
    turnId: row.turn_id,
    role: row.role,
    text: row.text,
    sequence: row.sequence,
    at: row.at,
    interrupted: row.interrupted !== 0,
    unreadable: row.unreadable !== 0,
    supersededBy: row.superseded_by,
    heard: row.heard,
  };
}
