import type { z } from 'zod';
import type { SearchHit, SessionListValue } from '../../shared/contract/sessions.ts';
import { type AgentId, newId, type RevisionId, SessionId, TurnId } from '../../shared/domain/ids.ts';
import { limits } from '../../shared/domain/limits.ts';
import type { Session, SessionOrigin } from '../../shared/domain/session.ts';
import { type Timestamp, timestamp } from '../../shared/domain/time.ts';
import { AppError } from '../../shared/errors/appError.ts';
import { createLiveValue, type Snapshot } from '../../shared/util/liveValue.ts';
import { createThrottle } from '../../shared/util/throttle.ts';
import type { RevisionRow } from '../store/agentRows.ts';
import { digest } from '../store/digest.ts';
import type { SearchRow } from '../store/readerWorker.ts';
import { markEnd, markStart } from '../store/search.ts';
import { type SessionRow, toSession } from '../store/sessionRows.ts';
import { assistantId, ensureAssistant } from './assistant.ts';
import { placeCursor, readPlace } from './cursors.ts';
import type { Kernel } from './kernel.ts';
import type { Turns } from './turns.ts';

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

export type OwnedSessions = Sessions & {
  /** Erases what has been in the trash for 30 days. */
  sweep(): void;
  close(): void;
};

const listEveryMs = 100;
const dayMs = 86_400_000;
/** Sessions that one sweep erases at most; the next one goes on. */
const sweepAtOnce = 100;
/** Types that change what a list shows. */
const listed = /^(session\.|turn\.|input\.)/;

export function createSessions(kernel: Kernel, turns: Pick<Turns, 'cancel'>): OwnedSessions {
  const { store, clock, log, events, sessions, hub } = kernel;
  const list = createLiveValue<SessionListValue>({ sessions: [], total: 0, trashed: 0 });
  let watchers = 0;
  let stale = true;
  const changed = createThrottle<null>(clock, listEveryMs, refresh);
  events.onCommitted((_, committed) => {
    if (committed.some((event) => listed.test(event.type))) touch();
  });

  function touch(): void {
    stale = true;
    if (watchers > 0) changed.push(null);
  }

  function refresh(): void {
    if (!stale) return;
    try {
      list.set(store.read(() => ({ sessions: sessions.list(false, null, limits.sessionPageMax).map(toSession), ...sessions.count() })));
      stale = false;
    } catch (error) {
      // Runs from a timer and after commits: the list stays as it was, and the next change tries again.
      log.error('agent.listUnreadable', {}, error);
    }
  }

  function revisionFor(input: StartInput): RevisionRow {
    const agentId = input.agentId ?? assistantId;
    const newest = agentId === assistantId ? ensureAssistant(kernel.agents, clock) : kernel.agents.newest(agentId);
    const revision = input.revisionId === undefined ? newest : kernel.agents.revision(input.revisionId);
    if (revision === undefined || revision.agent_id !== agentId) throw new AppError('AGENT_NOT_FOUND');
    return revision;
  }

  function update(sessionId: SessionId, change: (row: SessionRow) => Record<string, { from: string | null; to: string | null }>): Session {
    return store.write(() => {
      const row = kernel.session(sessionId);
      const fields = Object.fromEntries(Object.entries(change(row)).filter(([, { from, to }]) => from !== to));
      if (Object.keys(fields).length > 0) events.append(sessionId, [{ type: 'session.updated', data: { by: 'owner', changed: fields } }]);
      return toSession(kernel.session(sessionId));
    });
  }

  function eraseNow(sessionId: SessionId): void {
    store.write(() => {
      sessions.erase(sessionId);
      store.afterCommit(() => {
        hub.end(sessionId);
        touch();
      });
    });
  }

  return {
    start(input) {
      const metadata = checkedMetadata(input.metadata ?? {});
      const title = input.title?.toWellFormed();
      const startDigest = digest({ ...input, title, metadata });
      return store.write(() => {
        const known = input.sessionId === undefined ? undefined : sessions.get(input.sessionId);
        if (known !== undefined) {
          if (known.start_digest !== startDigest) throw new AppError('SESSION_CONFLICT');
          return { session: toSession(known), existing: true };
        }
        const revision = revisionFor(input);
        const nowMs = clock.nowMs();
        const id = input.sessionId ?? newId('session', nowMs);
        sessions.insert({
          id,
          agent_id: revision.agent_id,
          revision_id: revision.id,
          revision: revision.revision,
          origin: input.origin,
          metadata: JSON.stringify(metadata),
          start_digest: startDigest,
          created_at: timestamp(nowMs),
        });
        const data = { agent_id: revision.agent_id, revision_id: revision.id, revision: revision.revision, origin: input.origin };
        events.append(id, [{ type: 'session.started', data: title === undefined ? data : { ...data, title } }]);
        return { session: toSession(kernel.session(id)), existing: false };
      });
    },
    get: (sessionId) => toSession(kernel.session(sessionId)),
    list({ limit, pageToken, trash }) {
      const kind = trash ? 'trash' : 'sessions';
      const from = pageToken === undefined ? null : readPlace(pageToken, kind);
      const rows = store.read(() => sessions.list(trash, from, limit + 1));
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const more = rows.length > limit && last !== undefined;
      return {
        sessions: page.map(toSession),
        nextPageToken: more ? placeCursor(kind, { at: (trash ? last.trashed_at : null) ?? last.updated_at, no: last.no }) : null,
      };
    },
    async *watchList(signal) {
      watchers += 1;
      try {
        refresh();
        yield* list.watch(signal);
      } finally {
        watchers -= 1;
      }
    },
    setTitle: (sessionId, title) => {
      const clean = title.toWellFormed();
      return store.write(() => {
        const row = kernel.session(sessionId);
        // A title that the model made becomes the owner's when the owner keeps its words.
        if (row.title === clean && row.title_by === 'owner') return toSession(row);
        events.append(sessionId, [{ type: 'session.updated', data: { by: 'owner', changed: { title: { from: row.title, to: clean } } } }]);
        return toSession(kernel.session(sessionId));
      });
    },
    trash(sessionId) {
      return store.write(() => {
        const row = kernel.session(sessionId);
        if (kernel.turns.open(row.no) !== undefined) turns.cancel({ sessionId });
        return update(sessionId, ({ trashed_at: from }) => ({ trashedAt: { from, to: from ?? timestamp(clock.nowMs()) } }));
      });
    },
    restore: (sessionId) => update(sessionId, ({ trashed_at: from }) => ({ trashedAt: { from, to: null } })),
    erase(sessionId) {
      store.write(() => {
        const row = kernel.session(sessionId);
        if (row.trashed_at === null) throw new AppError('INVALID_INPUT', { field: 'sessionId', reason: 'not_in_trash' });
        const open = kernel.turns.open(row.no);
        if (open !== undefined) throw new AppError('TURN_ACTIVE', { turnId: open.id });
        eraseNow(sessionId);
      });
      return { erased: true };
    },
    async search({ query, limit }, signal) {
      const rows = await store.reader.search(query, limit, signal);
      return { hits: rows.slice(0, limit).map(toHit), more: rows.length > limit };
    },
    getDraft: (sessionId) => ({ text: store.read(() => sessions.getDraft(sessionId ?? '')) }),
    setDraft(sessionId, text) {
      return store.write(() => {
        if (sessionId !== null) kernel.session(sessionId);
        const savedAt = timestamp(clock.nowMs());
        sessions.setDraft(sessionId ?? '', text.toWellFormed(), savedAt);
        return { savedAt };
      });
    },
    sweep() {
      const due = store.read(() => sessions.trashedBefore(timestamp(clock.nowMs() - limits.trashDays * dayMs), sweepAtOnce));
      for (const sessionId of due) {
        const row = sessions.get(sessionId);
        if (row !== undefined && kernel.turns.open(row.no) === undefined) eraseNow(sessionId);
      }
      if (due.length > 0) log.info('agent.trashSwept', { sessions: due.length });
    },
    close() {
      changed.cancel();
      list.close();
    },
  };
}

/** SE-15. */
function checkedMetadata(metadata: Record<string, z.core.util.JSONType>): Record<string, z.core.util.JSONType> {
  const text = JSON.stringify(metadata);
  if (Buffer.byteLength(text, 'utf8') > limits.metadataBytes) throw new AppError('INVALID_INPUT', { field: 'metadata', reason: 'range' });
  // JSON escapes half surrogate pairs; read back as they are, they would have no canonical form.
  if (/\\u[dD][89a-fA-F]/.test(text)) throw new AppError('INVALID_INPUT', { field: 'metadata', reason: 'not_json' });
  return metadata;
}

/** The marks leave the text and become places in it. */
function toHit(row: SearchRow): SearchHit {
  const marks: [number, number][] = [];
  let excerpt = '';
  for (const piece of row.text.split(new RegExp(`([${markStart}${markEnd}])`))) {
    const last = marks.at(-1);
    if (piece === markStart) marks.push([excerpt.length, excerpt.length]);
    else if (piece === markEnd && last !== undefined) last[1] = excerpt.length;
    else excerpt += piece;
  }
  return {
    sessionId: SessionId.parse(row.sessionId),
    title: row.title,
    inTrash: row.inTrash,
    where: row.where,
    turnId: row.turnId === null ? null : TurnId.parse(row.turnId),
    sequence: row.sequence,
    excerpt,
    marks: marks.filter(([from, to]) => to > from),
    at: row.at,
  };
}
