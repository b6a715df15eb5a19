import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { AgentId, RevisionId, SessionId, TurnId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { Session, SessionOrigin, Title } from '../domain/session.ts';
import { Timestamp } from '../domain/time.ts';
import { errors } from './errors.ts';
import { live } from './live.ts';

const byId = z.strictObject({ sessionId: SessionId });
const found = errors('SESSION_NOT_FOUND');

export const SearchHit = z.strictObject({
  sessionId: SessionId,
  title: z.string().nullable(),
  inTrash: z.boolean(),
  /** `title`, or where in which message; `marks` are [start, end) in UTF-16 units of `excerpt`. */
  where: z.enum(['title', 'message']),
  turnId: TurnId.nullable(),
  sequence: z.int().nullable(),
  excerpt: z.string(),
  marks: z.array(z.tuple([z.int(), z.int()])),
  at: Timestamp,
});
export type SearchHit = z.infer<typeof SearchHit>;

export const SessionListValue = z.strictObject({
  /** Newest first, at most `limits.sessionPageMax`; older ones come by `list`. */
  sessions: z.array(Session),
  total: z.int(),
  trashed: z.int(),
});
export type SessionListValue = z.infer<typeof SessionListValue>;

export const sessions = {
  start: oc
    .errors(errors('SESSION_CONFLICT', 'AGENT_NOT_FOUND'))
    .input(
      z.strictObject({
        sessionId: SessionId.optional(),
        agentId: AgentId.optional(),
        revisionId: RevisionId.optional(),
        title: Title.optional(),
        metadata: z.record(z.string().max(64), z.json()).optional(),
        origin: SessionOrigin.default('app'),
      }),
    )
    .output(z.strictObject({ session: Session, existing: z.boolean() })),
  get: oc.errors(found).input(byId).output(Session),
  list: oc
    .errors(errors('CURSOR_MALFORMED', 'CURSOR_INCOMPATIBLE'))
    .input(
      z.strictObject({
        limit: z.int().min(1).max(limits.sessionPageMax).default(limits.sessionPage),
        pageToken: z.string().max(512).optional(),
        trash: z.boolean().default(false),
      }),
    )
    .output(z.strictObject({ sessions: z.array(Session), nextPageToken: z.string().nullable() })),
  watchList: oc
    .errors(errors())
    .input(z.strictObject({}))
    .output(eventIterator(live(SessionListValue))),
  setTitle: oc
    .errors(found)
    .input(z.strictObject({ sessionId: SessionId, title: Title }))
    .output(Session),
  /** Into the trash for 30 days; a running turn is cancelled first. */
  trash: oc.errors(found).input(byId).output(Session),
  restore: oc.errors(found).input(byId).output(Session),
  /** Final: only a session in the trash, and only with `confirm`. */
  erase: oc
    .errors(errors('SESSION_NOT_FOUND', 'TURN_ACTIVE'))
    .input(z.strictObject({ sessionId: SessionId, confirm: z.literal(true) }))
    .output(z.strictObject({ erased: z.literal(true) })),
  search: oc
    .errors(errors('SEARCH_TIMEOUT'))
    .input(
      z.strictObject({
        query: z.string().trim().min(1).max(limits.queryCharacters),
        limit: z.int().min(1).max(limits.searchHits).default(20),
      }),
    )
    .output(z.strictObject({ hits: z.array(SearchHit), more: z.boolean() })),
  /** The unsent text of a chat; '' when there is none. `sessionId` null = the chat that does not exist yet. */
  getDraft: oc
    .errors(errors())
    .input(z.strictObject({ sessionId: SessionId.nullable() }))
    .output(z.strictObject({ text: z.string() })),
  setDraft: oc
    .errors(found)
    .input(z.strictObject({ sessionId: SessionId.nullable(), text: z.string().max(limits.draftBytes) }))
    .output(z.strictObject({ savedAt: Timestamp })),
};
