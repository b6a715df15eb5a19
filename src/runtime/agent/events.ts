import type { DurableEvent, EphemeralEvent, WatchItem } from '../../shared/domain/events.ts';
import type { SessionId } from '../../shared/domain/ids.ts';
import { limits } from '../../shared/domain/limits.ts';
import { readWalk, walkCursor } from './cursors.ts';
import type { Kernel } from './kernel.ts';

export type Events = {
  /** @throws AppError SESSION_NOT_FOUND, CURSOR_* */
  list(input: { sessionId: SessionId; after: number; cursor?: string | undefined; limit: number }): {
    events: DurableEvent[];
    nextCursor: string | null;
  };
  /**
   * Durable events after `after`, then live ones. A watcher that joins while an answer grows first gets one delta that starts at 0 and
   * holds the text so far, so `delta` always belongs at `accumulated - delta.length`.
   *
   * @throws AppError SESSION_NOT_FOUND
   */
  watch(input: { sessionId: SessionId; after: number }, signal?: AbortSignal): AsyncGenerator<WatchItem, void, void>;
};

export function createEvents(kernel: Kernel): Events {
  const { events, hub } = kernel;

  async function* follow(
    session: { id: SessionId; no: number },
    after: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<WatchItem, void, void> {
    // Joined before the first read, so that nothing falls between the log and the live events.
    const { queue, leave } = hub.join(session.id);
    let last = after;
    try {
      for (;;) {
        const page = events.page(session.no, session.id, last, Number.MAX_SAFE_INTEGER, limits.eventPageMax);
        if (page.length === 0) break;
        for (const event of page) {
          if (signal?.aborted) return;
          last = event.sequence;
          yield { kind: 'durable', event };
        }
      }
      let shown = yield* snapshot();
      for await (const { item, missed } of queue.read(signal)) {
        if (missed > 0) {
          yield { kind: 'lagged', missed };
          shown = yield* snapshot();
        }
        if (item.kind === 'durable') {
          if (item.event.sequence <= last) continue;
          last = item.event.sequence;
        } else if (item.kind === 'ephemeral' && isOld(item.event, shown)) continue;
        yield item;
      }
    } finally {
      leave();
    }

    function* snapshot(): Generator<WatchItem, Shown, void> {
      const now = hub.snapshot(session.id);
      for (const event of now) yield { kind: 'ephemeral', event };
      const newest = now.at(-1);
      return newest?.type === 'output.message.delta' ? { messageId: newest.message_id, units: newest.accumulated } : null;
    }
  }

  return {
    list({ sessionId, after, cursor, limit }) {
      const session = kernel.session(sessionId);
      const here = { id: sessionId, no: session.no, lastSequence: session.last_sequence };
      const walk = cursor === undefined ? null : readWalk(cursor, 'events', here);
      const pin = walk?.pin ?? session.last_sequence;
      const page = events.page(session.no, sessionId, walk?.at ?? after, pin, limit);
      kernel.noteDamage(sessionId, unreadable(page));
      const at = page.at(-1)?.sequence ?? pin;
      return { events: page, nextCursor: at >= pin ? null : walkCursor('events', { s: sessionId, no: session.no, at, pin }) };
    },
    watch({ sessionId, after }, signal) {
      const { no } = kernel.session(sessionId);
      return follow({ id: sessionId, no }, after, signal);
    },
  };
}

type Shown = { readonly messageId: string; readonly units: number } | null;

/** A delta that waited while the text so far was sent anew. */
function isOld(event: EphemeralEvent, shown: Shown): boolean {
  return event.type === 'output.message.delta' && event.message_id === shown?.messageId && event.accumulated <= shown.units;
}

function unreadable(page: readonly DurableEvent[]): number[] {
  return page.filter((event) => event.unreadable).map((event) => event.sequence);
}
