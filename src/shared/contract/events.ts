import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { DurableEvent, WatchItem } from '../domain/events.ts';
import { SessionId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { errors } from './errors.ts';

export const events = {
  /** Oldest first, after a sequence (exclusive) or from a cursor of an earlier page. A walk is pinned to its first page's end (EV-10). */
  list: oc
    .errors(errors('SESSION_NOT_FOUND', 'CURSOR_MALFORMED', 'CURSOR_CROSS_SESSION', 'CURSOR_EXPIRED', 'CURSOR_INCOMPATIBLE'))
    .input(
      z.strictObject({
        sessionId: SessionId,
        after: z.int().min(0).default(0),
        cursor: z.string().max(512).optional(),
        limit: z.int().min(1).max(limits.eventPageMax).default(limits.eventPage),
      }),
    )
    .output(z.strictObject({ events: z.array(DurableEvent), nextCursor: z.string().nullable() })),
  /** Durable events after `after`, then live ones, with ephemeral events between. Never slows a turn. */
  watch: oc
    .errors(errors('SESSION_NOT_FOUND'))
    .input(z.strictObject({ sessionId: SessionId, after: z.int().min(0).default(0) }))
    .output(eventIterator(WatchItem)),
};
