import type { z } from 'zod';
import type { SearchHit, SessionListValue } from '../../shared/contract/sessions.ts';
import type { AgentId, RevisionId, SessionId } from '../../shared/domain/ids.ts';
import type { Session, SessionOrigin } from '../../shared/domain/session.ts';
import type { Timestamp } from '../../shared/domain/time.ts';
import type { Snapshot } from '../../shared/util/liveValue.ts';

export type StartInput = {
  readonly sessionId?: SessionId | undefined;
  readonly agentId?: AgentId | undefined;
  readonly revisionId?: RevisionId | undefined;
  readonly title?: string | undefined;
  readonly metadata?: Record<string, z.core.util.JSONType> | undefined;
  readonly origin: z.infer<typeof SessionOrigin>;
};

export type Sessions = {
  /** Idempotent by a caller's id: equal input gives the first session, other input SESSION_CONFLICT (SE-05). */
  start(input: StartInput): { session: Session; existing: boolean };
  /** @throws AppError SESSION_NOT_FOUND */
  get(sessionId: SessionId): Session;
  /** Newest first. @throws AppError CURSOR_MALFORMED, CURSOR_INCOMPATIBLE */
  list(input: { limit: number; pageToken?: string | undefined; trash: boolean }): { sessions: Session[]; nextPageToken: string | null };
  /** Throttled to one snapshot per 100 ms. */
  watchList(signal?: AbortSignal): AsyncGenerator<Snapshot<SessionListValue>, void, void>;
  /** The owner's title; never replaced by a made one (SE-10). */
  setTitle(sessionId: SessionId, title: string): Session;
  /** Into the trash for 30 days; an open turn is cancelled first. */
  trash(sessionId: SessionId): Session;
  restore(sessionId: SessionId): Session;
  /** Final. @throws AppError INVALID_INPUT when it is not in the trash, TURN_ACTIVE while a turn is open. */
  erase(sessionId: SessionId): { erased: true };
  /** Words in titles and messages, ranked, on a read-only connection in a worker. @throws AppError SEARCH_TIMEOUT, CANCELLED */
  search(input: { query: string; limit: number }, signal?: AbortSignal): Promise<{ hits: SearchHit[]; more: boolean }>;
  getDraft(sessionId: SessionId | null): { text: string };
  setDraft(sessionId: SessionId | null, text: string): { savedAt: Timestamp };
};
