import type { Database } from 'better-sqlite3';
import { type DurableEventData, type DurableEventType, durableEventData } from '../../shared/domain/events.ts';
import type { MessageId, TurnId } from '../../shared/domain/ids.ts';
import { type Message, plainText } from '../../shared/domain/message.ts';
import { digest } from './digest.ts';

/** An event whose data fits the schema of its type. */
export type ValidEvent = {
  [T in DurableEventType]: {
    readonly type: T;
    readonly data: DurableEventData<T>;
    readonly session: number;
    readonly sequence: number;
    readonly ts: string;
    readonly turnId: TurnId | null;
    readonly messageId: MessageId | null;
  };
}[DurableEventType];

export type Projections = {
  /** Inside the transaction of the append. */
  apply(event: ValidEvent): void;
  /** For an event whose data cannot be read any more: its envelope still says what kind of step it was. */
  applyUnreadable(event: {
    session: number;
    sequence: number;
    type: string;
    ts: string;
    turnId: string | null;
    messageId: string | null;
  }): void;
  /** Forgets what follows from the log of one session, before a replay. */
  clear(session: number): void;
};

/** What an unreadable input is shown as; a message has at least one part that is not empty. */
const unreadableText = '\uFFFD';

/** The digest that decides whether two sends are the same (TU-06). */
export function inputDigest(content: Message['content'], retryOf: TurnId | null): string {
  return digest({ content, retry_of: retryOf });
}

/** The rows that follow from the log (EV-01): messages, states of turns, status and title of sessions. */
export function createProjections(db: Database): Projections {
  const run = (sql: string) => {
    const statement = db.prepare<(string | number | null)[]>(sql);
    return (...values: (string | number | null)[]) => statement.run(...values);
  };
  const sessionBegins = run(
    "UPDATE sessions SET status = 'idle', title = ?, title_by = CASE WHEN ? IS NULL THEN NULL ELSE 'owner' END, updated_at = ? WHERE no = ?",
  );
  const sessionStatus = run('UPDATE sessions SET status = ?, updated_at = ? WHERE no = ?');
  const sessionEnds = run("UPDATE sessions SET status = 'idle', last_turn_status = ?, updated_at = ? WHERE no = ?");
  const sessionTitle = run('UPDATE sessions SET title = ?, title_by = ? WHERE no = ?');
  const sessionTrash = run('UPDATE sessions SET trashed_at = ? WHERE no = ?');
  const sessionArchive = run('UPDATE sessions SET archived_at = ? WHERE no = ?');
  const sessionContext = run('UPDATE sessions SET context_from = ?, context_size = ? WHERE no = ?');
  const turnBegins =
    run(`INSERT INTO turns (id, session, idempotency_key, input_digest, input, input_sequence, retry_of, status, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', ?)`);
  const turnStarts = run("UPDATE turns SET status = 'running', started_at = ?, attempt = ? WHERE id = ?");
  const turnCancelling = run("UPDATE turns SET status = 'cancelling' WHERE id = ? AND status <> 'cancelling'");
  const turnEnds = run('UPDATE turns SET status = ?, result = ?, error = ?, completed_at = ?, waiting_on = NULL WHERE id = ?');
  const turnWaits = run("UPDATE turns SET waiting_on = 'needs_reconciliation' WHERE id = ?");
  const turnResumes = run('UPDATE turns SET waiting_on = NULL, attempt = attempt + 1, idle_resumes = idle_resumes + 1 WHERE id = ?');
  const turnMoves = run('UPDATE turns SET idle_resumes = 0 WHERE id = ? AND idle_resumes <> 0');
  const messageIn = run(`INSERT INTO messages (session, sequence, id, turn_id, role, phase, text, at, interrupted, unreadable)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const messageFolds = run('UPDATE messages SET superseded_by = ? WHERE turn_id = ? AND superseded_by IS NULL');
  const messageHeard = run('UPDATE messages SET heard = ? WHERE session = ? AND turn_id = ? AND id = ?');
  const messageVoids = run('DELETE FROM messages WHERE session = ? AND turn_id = ? AND id = ?');
  const clearMessages = run('DELETE FROM messages WHERE session = ?');
  const clearTurns = run('DELETE FROM turns WHERE session = ?');
  const clearSession =
    run(`UPDATE sessions SET status = 'started', last_turn_status = NULL, title = NULL, title_by = NULL, updated_at = created_at,
    archived_at = NULL, trashed_at = NULL, context_from = NULL, context_size = NULL WHERE no = ?`);

  function inputArrives(event: ValidEvent & { type: 'input.message' }): void {
    const { message, retry_of: retryOf, idempotency_key: key, replaces } = event.data;
    const { session, sequence, ts, turnId } = event;
    turnBegins(
      turnId,
      session,
      key ?? String(turnId),
      inputDigest(message.content, retryOf ?? null),
      JSON.stringify(message),
      sequence,
      retryOf ?? null,
      ts,
    );
    if (retryOf !== undefined) messageFolds(turnId, retryOf);
    if (replaces !== undefined) messageFolds(turnId, replaces);
    messageIn(session, sequence, message.id, turnId, message.role, null, plainText(message), ts, 0, 0);
    sessionStatus('active', ts, session);
  }

  function ends(status: 'completed' | 'failed' | 'cancelled', turnId: string, ts: string, session: number): void {
    turnEnds(status, null, null, ts, turnId);
    sessionEnds(status, ts, session);
  }

  return {
    apply(event) {
      const { session, ts, turnId } = event;
      switch (event.type) {
        case 'session.started':
          sessionBegins(event.data.title ?? null, event.data.title ?? null, ts, session);
          break;
        case 'session.updated': {
          const { title, trashedAt, archivedAt } = event.data.changed;
          if (title !== undefined) sessionTitle(textOrNull(title.to), title.to === null ? null : (event.data.by ?? 'owner'), session);
          if (trashedAt !== undefined) sessionTrash(textOrNull(trashedAt.to), session);
          if (archivedAt !== undefined) sessionArchive(textOrNull(archivedAt.to), session);
          break;
        }
        case 'input.message':
          inputArrives(event);
          break;
        case 'turn.started':
          turnStarts(ts, event.data.attempt, turnId);
          sessionStatus('active', ts, session);
          break;
        case 'turn.cancelling':
          turnCancelling(turnId);
          break;
        case 'turn.completed':
          turnEnds('completed', JSON.stringify({ stop_reason: event.data.stop_reason, usage: event.data.usage }), null, ts, turnId);
          sessionEnds('completed', ts, session);
          break;
        case 'turn.cancelled':
          turnCancelling(turnId);
          turnEnds('cancelled', JSON.stringify({ stop_reason: event.data.stop_reason, usage: event.data.usage }), null, ts, turnId);
          sessionEnds('cancelled', ts, session);
          break;
        case 'turn.failed': {
          const { error, error_code: code, details } = event.data;
          turnEnds('failed', null, JSON.stringify({ code, message: error, details }), ts, turnId);
          sessionEnds('failed', ts, session);
          break;
        }
        case 'turn.interrupted':
          turnWaits(turnId);
          sessionStatus('waitingforinput', ts, session);
          break;
        case 'turn.resumed':
          turnResumes(turnId);
          sessionStatus('active', ts, session);
          break;
        case 'reason.completed':
          turnMoves(turnId);
          break;
        case 'output.message.completed': {
          const { message, phase, interrupted } = event.data;
          messageIn(session, event.sequence, message.id, turnId, message.role, phase, plainText(message), ts, interrupted ? 1 : 0, 0);
          break;
        }
        case 'output.message.replaced':
          messageVoids(session, turnId, event.data.message_id);
          break;
        case 'output.message.heard':
          messageHeard(event.data.heard_characters, session, turnId, event.data.message_id);
          break;
        case 'context.trimmed':
          if (event.data.from_sequence !== undefined) sessionContext(event.data.from_sequence, event.data.context_size ?? null, session);
          break;
        default:
          break;
      }
    },
    applyUnreadable({ session, sequence, type, ts, turnId, messageId }) {
      if (turnId === null) return;
      switch (type) {
        case 'input.message': {
          if (messageId === null) break;
          const input = JSON.stringify({ id: messageId, role: 'user', content: [{ type: 'text', text: unreadableText }] });
          turnBegins(turnId, session, turnId, '', input, sequence, null, ts);
          messageIn(session, sequence, messageId, turnId, 'user', null, '', ts, 0, 1);
          sessionStatus('active', ts, session);
          break;
        }
        case 'output.message.completed':
          if (messageId !== null) messageIn(session, sequence, messageId, turnId, 'assistant', 'final', '', ts, 0, 1);
          break;
        case 'turn.started':
          turnStarts(ts, 1, turnId);
          break;
        case 'turn.cancelling':
          turnCancelling(turnId);
          break;
        case 'turn.cancelled':
          turnCancelling(turnId);
          ends('cancelled', turnId, ts, session);
          break;
        case 'turn.completed':
          ends('completed', turnId, ts, session);
          break;
        case 'turn.failed':
          ends('failed', turnId, ts, session);
          break;
        case 'turn.interrupted':
          turnWaits(turnId);
          sessionStatus('waitingforinput', ts, session);
          break;
        case 'turn.resumed':
          turnResumes(turnId);
          sessionStatus('active', ts, session);
          break;
        default:
          break;
      }
    },
    clear(session) {
      clearMessages(session);
      clearTurns(session);
      clearSession(session);
    },
  };
}

/** The data of an event read back, if it fits what this build knows of its type; null when not, or when the type is unknown (EV-11). */
export function validEvent(event: {
  type: string;
  data: unknown;
  session: number;
  sequence: number;
  ts: string;
  turnId: TurnId | null;
  messageId: MessageId | null;
}): ValidEvent | null {
  if (!isKnownType(event.type)) return null;
  const parsed = durableEventData[event.type].safeParse(event.data);
  return parsed.success ? ({ ...event, type: event.type, data: parsed.data } as ValidEvent) : null;
}

export function isKnownType(type: string): type is DurableEventType {
  return Object.hasOwn(durableEventData, type);
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
