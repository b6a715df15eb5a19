import type { DurableEvent, EphemeralEvent, WatchItem } from '../../shared/domain/events.ts';
import type { MessageId, SessionId, TurnId } from '../../shared/domain/ids.ts';
import { limits } from '../../shared/domain/limits.ts';
import { type AsyncQueue, createAsyncQueue } from '../../shared/util/asyncQueue.ts';

type Live = { readonly turnId: TurnId; stage: EphemeralEvent | null; messageId: MessageId | null; text: string };

export type Hub = {
  /** A reader's bounded buffer (EV-08); `leave` when it goes. */
  join(sessionId: SessionId): { queue: AsyncQueue<WatchItem>; leave: () => void };
  durable(sessionId: SessionId, events: readonly DurableEvent[]): void;
  /** What the turn does now: loading, prefill, generating. */
  stage(sessionId: SessionId, event: Exclude<EphemeralEvent, { type: 'output.message.delta' }>): void;
  /** More text of a growing message. */
  delta(sessionId: SessionId, turnId: TurnId, messageId: MessageId, delta: string): void;
  /** Nothing of this turn grows any more. */
  quiet(sessionId: SessionId, turnId: TurnId): void;
  /** What a reader that joins now has to know: the stage, and the text so far from its beginning. */
  snapshot(sessionId: SessionId): EphemeralEvent[];
  /** Ends every reader of the session. */
  end(sessionId: SessionId): void;
  close(): void;
};

/** UTF-16 units of one delta: three bytes each at most, so the ephemeral limit (64 KiB) holds with room for the envelope. */
const deltaUnits = 16_384;

/** Carries events from turns to readers. A push never waits; a reader that does not read loses the oldest items and is told how many. */
export function createHub(): Hub {
  const readers = new Map<SessionId, Set<AsyncQueue<WatchItem>>>();
  const growing = new Map<SessionId, Live>();

  function push(sessionId: SessionId, item: WatchItem): void {
    for (const queue of readers.get(sessionId) ?? []) queue.push(item);
  }

  function liveOf(sessionId: SessionId, turnId: TurnId): Live {
    const live = growing.get(sessionId);
    if (live?.turnId === turnId) return live;
    const fresh: Live = { turnId, stage: null, messageId: null, text: '' };
    growing.set(sessionId, fresh);
    return fresh;
  }

  return {
    join(sessionId) {
      const queue = createAsyncQueue<WatchItem>(limits.liveBufferEvents);
      const set = readers.get(sessionId) ?? new Set();
      set.add(queue);
      readers.set(sessionId, set);
      return {
        queue,
        leave() {
          set.delete(queue);
          if (set.size === 0 && readers.get(sessionId) === set) readers.delete(sessionId);
        },
      };
    },
    durable(sessionId, events) {
      for (const event of events) push(sessionId, { kind: 'durable', event });
    },
    stage(sessionId, event) {
      liveOf(sessionId, event.turn_id).stage = event;
      push(sessionId, { kind: 'ephemeral', event });
    },
    delta(sessionId, turnId, messageId, delta) {
      const live = liveOf(sessionId, turnId);
      if (live.messageId !== messageId) {
        live.messageId = messageId;
        live.text = '';
      }
      for (const event of deltas(turnId, messageId, delta, live.text.length)) push(sessionId, { kind: 'ephemeral', event });
      live.text += delta;
    },
    quiet(sessionId, turnId) {
      if (growing.get(sessionId)?.turnId === turnId) growing.delete(sessionId);
    },
    snapshot(sessionId) {
      const live = growing.get(sessionId);
      if (live === undefined) return [];
      const text = live.messageId === null ? [] : [...deltas(live.turnId, live.messageId, live.text, 0)];
      return live.stage === null ? text : [live.stage, ...text];
    },
    end(sessionId) {
      for (const queue of readers.get(sessionId) ?? []) queue.close();
      readers.delete(sessionId);
      growing.delete(sessionId);
    },
    close() {
      for (const sessionId of [...readers.keys()]) this.end(sessionId);
    },
  };
}

function* deltas(turnId: TurnId, messageId: MessageId, text: string, from: number): Generator<EphemeralEvent, void, void> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + deltaUnits, text.length);
    // Never between the halves of a character.
    if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1;
    yield { type: 'output.message.delta', turn_id: turnId, message_id: messageId, delta: text.slice(at, end), accumulated: from + end };
    at = end;
  }
}
