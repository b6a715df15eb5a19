import type { DurableEvent, WatchItem } from '../../shared/domain/events.ts';
import type { SessionId } from '../../shared/domain/ids.ts';

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
