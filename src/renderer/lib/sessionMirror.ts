import type { DurableEvent, EphemeralEvent, WatchItem } from '../../shared/domain/events.ts';
import { durableEventData } from '../../shared/domain/events.ts';
import type { MessageId, TurnId } from '../../shared/domain/ids.ts';
import { plainText } from '../../shared/domain/message.ts';
import type { TranscriptMessage, TurnSummary } from '../../shared/domain/session.ts';

/** What happens before the first word, as the runtime reported it last. */
export type Stage =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'loading'; readonly fraction: number }
  | { readonly kind: 'reading'; readonly done: number; readonly total: number; readonly etaMs: number | null }
  | { readonly kind: 'thinking' }
  | { readonly kind: 'writing' };

/** The growing answer: laid over the durable messages, dropped when its completed event arrives. */
export type Growing = {
  readonly turnId: TurnId;
  readonly messageId: MessageId | null;
  readonly text: string;
  readonly stage: Stage;
  /** When the stage last moved, ms of the page's monotonic clock: a stall is told from slow progress by it. */
  readonly movedAt: number;
  /** A piece was missed on the way; `text` is then the part before it, and the whole comes with the completed event. */
  readonly hole: boolean;
};

export type MirrorState = {
  readonly messages: readonly TranscriptMessage[];
  readonly turns: ReadonlyMap<TurnId, TurnSummary>;
  /** The last durable event that this state contains. */
  readonly sequence: number;
  readonly olderCursor: string | null;
  readonly growing: Growing | null;
  /** Events were missed or not understood in a way that matters: read the newest page again. */
  readonly stale: boolean;
};

export type HistoryPage = {
  readonly messages: readonly TranscriptMessage[];
  readonly turns: readonly TurnSummary[];
  readonly sequence: number;
  readonly olderCursor: string | null;
};

const openStates: readonly TurnSummary['status'][] = ['queued', 'running', 'cancelling'];

/** The state after the newest page was read. A growing answer of a turn that still runs stays where it was. */
export function fromHistory(page: HistoryPage, before: MirrorState | null): MirrorState {
  const turns = new Map(page.turns.map((turn) => [turn.id, turn]));
  const older = before === null ? [] : before.messages.filter((m) => m.sequence < (page.messages[0]?.sequence ?? 0));
  if (before !== null) for (const [id, turn] of before.turns) if (!turns.has(id)) turns.set(id, turn);
  const growing = before?.growing ?? null;
  return {
    messages: [...older, ...page.messages],
    turns,
    sequence: page.sequence,
    olderCursor: older.length > 0 ? (before?.olderCursor ?? null) : page.olderCursor,
    growing: growing !== null && isOpen(turns.get(growing.turnId)) ? growing : null,
    stale: false,
  };
}

/** The state with an older page in front; messages that are already there are not doubled. */
export function withOlder(state: MirrorState, page: HistoryPage): MirrorState {
  const known = new Set(state.messages.map((m) => m.id));
  const turns = new Map(page.turns.map((turn) => [turn.id, turn]));
  for (const [id, turn] of state.turns) turns.set(id, turn);
  return {
    ...state,
    messages: [...page.messages.filter((m) => !known.has(m.id)), ...state.messages],
    turns,
    olderCursor: page.olderCursor,
  };
}

/**
 * One item of `events.watch` applied. Pure: the same items give the same state. Unknown durable types only move the sequence (EV-11);
 * an event at or below the sequence changes nothing, so that a replay after a reconnect is harmless.
 *
 * @param nowMs  monotonic time of the page.
 */
export function applyItem(state: MirrorState, item: WatchItem, nowMs: number): MirrorState {
  switch (item.kind) {
    case 'lagged':
      return { ...state, stale: true, growing: state.growing === null ? null : { ...state.growing, hole: true } };
    case 'ephemeral':
      return applyEphemeral(state, item.event, nowMs);
    case 'durable':
      if (item.event.sequence <= state.sequence) return state;
      return { ...applyDurable(state, item.event, nowMs), sequence: item.event.sequence };
  }
}

export function isOpen(turn: Pick<TurnSummary, 'status'> | undefined): boolean {
  return turn !== undefined && openStates.includes(turn.status);
}

/** The turn that runs now, or waits for a person's decision; the newest one if a log holds more. */
export function openTurn(state: Pick<MirrorState, 'turns'>): TurnSummary | null {
  let found: TurnSummary | null = null;
  for (const turn of state.turns.values()) if (isOpen(turn) && (found === null || turn.createdAt >= found.createdAt)) found = turn;
  return found;
}

function applyEphemeral(state: MirrorState, event: EphemeralEvent, nowMs: number): MirrorState {
  const known = state.turns.get(event.turn_id);
  // Deltas of a finished turn that were still on their way.
  if (known !== undefined && !isOpen(known)) return state;
  const before: Growing =
    state.growing?.turnId === event.turn_id
      ? state.growing
      : { turnId: event.turn_id, messageId: null, text: '', stage: { kind: 'waiting' }, movedAt: nowMs, hole: false };
  const growing = (change: Partial<Growing>): MirrorState => ({ ...state, growing: { ...before, movedAt: nowMs, ...change } });
  switch (event.type) {
    case 'model.loading':
      return growing({ stage: { kind: 'loading', fraction: event.fraction } });
    case 'model.prefill':
      return growing({ stage: { kind: 'reading', done: event.done, total: event.total, etaMs: event.etaMs } });
    case 'model.generating':
      return growing(before.text === '' ? { stage: { kind: 'thinking' } } : {});
    case 'output.message.delta': {
      const own = before.messageId === event.message_id ? before.text : '';
      const start = event.accumulated - event.delta.length;
      // A delta that holds the message from its first sign on replaces what was there: that is how a late watcher catches up.
      const text = start === 0 ? event.delta : own + event.delta;
      const fits = start === 0 || (start === own.length && !(before.messageId === event.message_id && before.hole));
      if (fits) return growing({ messageId: event.message_id, text, stage: { kind: 'writing' }, hole: false });
      if (event.accumulated <= own.length) return state;
      return growing({ messageId: event.message_id, text: own, stage: { kind: 'writing' }, hole: true });
    }
  }
}

function applyDurable(state: MirrorState, event: DurableEvent, nowMs: number): MirrorState {
  if (event.unreadable === true) return { ...state, stale: true };
  const turnId = event.context.turn_id;
  switch (event.type) {
    case 'input.message': {
      const data = durableEventData['input.message'].safeParse(event.data);
      if (!data.success || turnId === undefined) return { ...state, stale: true };
      const retryOf = data.data.retry_of ?? null;
      const folded = retryOf ?? data.data.replaces ?? null;
      return {
        ...state,
        messages: [
          ...state.messages.map((m) => (folded !== null && m.turnId === folded ? { ...m, supersededBy: turnId } : m)),
          messageOf(event, turnId, data.data.message, false),
        ],
        turns: withTurn(state.turns, turnId, event, { retryOf }),
      };
    }
    case 'turn.started': {
      const data = durableEventData['turn.started'].safeParse(event.data);
      if (!data.success) return { ...state, stale: true };
      const id = data.data.turn_id;
      return {
        ...state,
        turns: withTurn(state.turns, id, event, {
          status: 'running',
          attempt: data.data.attempt,
          startedAt: event.ts,
          waitingOn: null,
          error: null,
        }),
        growing: { turnId: id, messageId: null, text: '', stage: { kind: 'waiting' }, movedAt: nowMs, hole: false },
      };
    }
    case 'turn.resumed': {
      const data = durableEventData['turn.resumed'].safeParse(event.data);
      if (!data.success) return { ...state, stale: true };
      return { ...state, turns: withTurn(state.turns, data.data.turn_id, event, { status: 'running', waitingOn: null, error: null }) };
    }
    case 'output.message.completed': {
      const data = durableEventData['output.message.completed'].safeParse(event.data);
      if (!data.success || turnId === undefined) return { ...state, stale: true };
      const message = messageOf(event, turnId, data.data.message, data.data.interrupted === true);
      return {
        ...state,
        messages: [...state.messages.filter((m) => m.id !== message.id), message],
        growing: state.growing?.turnId === turnId ? null : state.growing,
      };
    }
    case 'output.message.heard': {
      const data = durableEventData['output.message.heard'].safeParse(event.data);
      if (!data.success) return { ...state, stale: true };
      const { message_id: id, heard_characters: heard } = data.data;
      return { ...state, messages: state.messages.map((m) => (m.id === id ? { ...m, heard } : m)) };
    }
    case 'turn.completed': {
      const data = durableEventData['turn.completed'].safeParse(event.data);
      if (!data.success) return { ...state, stale: true };
      return ended(state, data.data.turn_id, event, {
        status: 'completed',
        stopReason: data.data.stop_reason,
        usage: data.data.usage ?? null,
      });
    }
    case 'turn.cancelled': {
      const data = durableEventData['turn.cancelled'].safeParse(event.data);
      if (!data.success) return { ...state, stale: true };
      return ended(state, data.data.turn_id, event, {
        status: 'cancelled',
        stopReason: data.data.stop_reason,
        usage: data.data.usage ?? null,
      });
    }
    case 'turn.failed': {
      const data = durableEventData['turn.failed'].safeParse(event.data);
      if (!data.success) return { ...state, stale: true };
      const { turn_id, error, error_code, details } = data.data;
      return ended(state, turn_id, event, { status: 'failed', error: { code: error_code, message: error, details } });
    }
    case 'turn.interrupted': {
      const data = durableEventData['turn.interrupted'].safeParse(event.data);
      if (!data.success) return { ...state, stale: true };
      const id = data.data.turn_id;
      return {
        ...state,
        turns: withTurn(state.turns, id, event, { waitingOn: 'needs_reconciliation' }),
        growing: state.growing?.turnId === id ? null : state.growing,
      };
    }
    // The projection knows how a replaced or repaired message reads; the event alone does not.
    case 'output.message.replaced':
    case 'transcript.repaired':
      return { ...state, stale: true };
    default:
      return state;
  }
}

function ended(state: MirrorState, id: TurnId, event: DurableEvent, change: Partial<TurnSummary>): MirrorState {
  return {
    ...state,
    turns: withTurn(state.turns, id, event, { completedAt: event.ts, waitingOn: null, ...change }),
    growing: state.growing?.turnId === id ? null : state.growing,
  };
}

function withTurn(
  turns: ReadonlyMap<TurnId, TurnSummary>,
  id: TurnId,
  event: DurableEvent,
  change: Partial<TurnSummary>,
): ReadonlyMap<TurnId, TurnSummary> {
  const before: TurnSummary = turns.get(id) ?? {
    id,
    status: 'queued',
    error: null,
    attempt: 1,
    createdAt: event.ts,
    startedAt: null,
    completedAt: null,
    waitingOn: null,
    retryOf: null,
    usage: null,
    stopReason: null,
  };
  return new Map(turns).set(id, { ...before, ...change });
}

function messageOf(
  event: DurableEvent,
  turnId: TurnId,
  message: { id: MessageId; role: TranscriptMessage['role']; content: { type: 'text'; text: string }[] },
  interrupted: boolean,
): TranscriptMessage {
  return {
    id: message.id,
    turnId,
    role: message.role,
    text: plainText(message),
    sequence: event.sequence,
    at: event.ts,
    interrupted,
    unreadable: false,
    supersededBy: null,
    heard: null,
  };
}
