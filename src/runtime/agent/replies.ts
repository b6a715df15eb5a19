import { type DurableEventData, type DurableEventType, durableEventData, type WatchItem } from '../../shared/domain/events.ts';
import type { MessageId, SessionId, TurnId } from '../../shared/domain/ids.ts';
import { plainText } from '../../shared/domain/message.ts';
import { AppError, fromWire } from '../../shared/errors/appError.ts';
import type { Events } from './events.ts';
import type { Kernel } from './kernel.ts';

/** An answer as somebody follows it who speaks it. */
export type ReplyStep =
  | { readonly kind: 'stage'; readonly stage: 'loading' | 'reading' | 'writing'; readonly fraction: number | null }
  | { readonly kind: 'delta'; readonly text: string }
  /** What was given so far is void: the answer begins anew (EV-07). */
  | { readonly kind: 'replaced' }
  | { readonly kind: 'ended'; readonly how: 'completed' | 'cancelled' }
  | { readonly kind: 'ended'; readonly how: 'failed'; readonly error: AppError };

export type Replies = {
  /**
   * The answer of one turn from its beginning, however late one joins or however far one falls behind, to the end of the turn. The
   * deltas joined are the text of its message. A runtime that quits ends it as cancelled.
   *
   * @throws AppError SESSION_NOT_FOUND, TURN_NOT_FOUND
   */
  follow(input: { sessionId: SessionId; turnId: TurnId }, signal: AbortSignal): AsyncGenerator<ReplyStep, void, void>;
};

export function createReplies(kernel: Kernel, events: Pick<Events, 'watch'>): Replies {
  return {
    async *follow({ sessionId, turnId }, signal) {
      kernel.session(sessionId);
      const turn = kernel.store.read(() => kernel.turns.get(turnId));
      if (turn === undefined || turn.session_id !== sessionId) throw new AppError('TURN_NOT_FOUND');
      const reader = createReader(turnId);
      let after = turn.input_sequence;
      // Whoever falls behind reads the gap again from the log (EV-08).
      for (let again = true; again; ) {
        again = false;
        for await (const item of events.watch({ sessionId, after }, signal)) {
          if (item.kind === 'lagged') {
            again = true;
            break;
          }
          if (item.kind === 'durable') after = item.event.sequence;
          for (const step of reader(item)) {
            yield step;
            if (step.kind === 'ended') return;
          }
        }
      }
      if (!signal.aborted) yield { kind: 'ended', how: 'cancelled' };
    },
  };
}

/** What each item of the session means for one turn. */
function createReader(turnId: TurnId): (item: Exclude<WatchItem, { kind: 'lagged' }>) => Generator<ReplyStep, void, void> {
  let growing: { readonly id: MessageId; units: number } | null = null;

  function* drop(): Generator<ReplyStep, void, void> {
    if (growing !== null && growing.units > 0) yield { kind: 'replaced' };
    growing = null;
  }

  /** @param from  place of `text` in its message. */
  function* grow(id: MessageId, text: string, from: number): Generator<ReplyStep, void, void> {
    if (growing?.id !== id) {
      yield* drop();
      growing = { id, units: 0 };
    }
    // Beyond a hole nothing counts: the text so far comes again, or the whole message.
    const fresh = from > growing.units ? '' : text.slice(growing.units - from);
    if (fresh === '') return;
    growing.units += fresh.length;
    yield { kind: 'delta', text: fresh };
  }

  return function* read(item) {
    if (item.kind === 'ephemeral') {
      const { event } = item;
      if (event.turn_id !== turnId) return;
      switch (event.type) {
        case 'model.loading':
          return yield { kind: 'stage', stage: 'loading', fraction: event.fraction };
        case 'model.prefill':
          return yield { kind: 'stage', stage: 'reading', fraction: event.total > 0 ? Math.min(1, event.done / event.total) : null };
        case 'model.generating':
          return yield { kind: 'stage', stage: 'writing', fraction: null };
        case 'output.message.delta':
          return yield* grow(event.message_id, event.delta, event.accumulated - event.delta.length);
      }
    }
    const { event } = item;
    if (event.context.turn_id !== turnId) return;
    const as = <T extends DurableEventType>(type: T): DurableEventData<T> | null => {
      const data = event.type === type ? durableEventData[type].safeParse(event.data) : null;
      return data?.success === true ? (data.data as DurableEventData<T>) : null;
    };
    const message = as('output.message.completed')?.message;
    if (message !== undefined) {
      yield* grow(message.id, plainText(message), 0);
      growing = null;
    }
    if (growing !== null && as('output.message.replaced')?.message_id === growing.id) yield* drop();
    if (event.type === 'turn.completed') yield { kind: 'ended', how: 'completed' };
    if (event.type === 'turn.cancelled') yield { kind: 'ended', how: 'cancelled' };
    const failed = as('turn.failed');
    if (failed !== null)
      yield { kind: 'ended', how: 'failed', error: fromWire({ code: failed.error_code, message: failed.error, data: failed.details }) };
  };
}
