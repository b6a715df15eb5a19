import type { Database } from 'better-sqlite3';
import type { AgentId, RevisionId, SessionId } from '../../shared/domain/ids.ts';
import type { Session } from '../../shared/domain/session.ts';

export type SessionRow = {
  no: number;
  id: SessionId;
  agent_id: AgentId;
  revision_id: RevisionId;
  revision: number;
  origin: Session['origin'];
  metadata: string;
  start_digest: string;
  driver_session_id: string | null;
  parent_id: SessionId | null;
  created_at: string;
  status: Session['status'];
  last_turn_status: 'completed' | 'failed' | 'cancelled' | null;
  title: string | null;
  title_by: 'owner' | 'model' | null;
  updated_at: string;
  archived_at: string | null;
  trashed_at: string | null;
  last_sequence: number;
  log_bytes: number;
  context_from: number | null;
  context_size: number | null;
};

export type NewSession = Pick<
  SessionRow,
  'id' | 'agent_id' | 'revision_id' | 'revision' | 'origin' | 'metadata' | 'start_digest' | 'created_at'
>;

/** Place of a row in the list, newest first. */
export type ListPosition = { readonly at: string; readonly no: number };

export type SessionRows = {
  get(id: SessionId): SessionRow | undefined;
  insert(row: NewSession): void;
  /** Newest first, strictly after `from`. */
  list(trash: boolean, from: ListPosition | null, limit: number): SessionRow[];
  count(): { total: number; trashed: number };
  /** Ids in the trash since before `at`. */
  trashedBefore(at: string, limit: number): SessionId[];
  /** Takes everything of the session along, sub-sessions too. */
  erase(id: SessionId): void;
  getDraft(key: string): string;
  setDraft(key: string, text: string, at: string): void;
};

export const listSql = {
  live: 'SELECT * FROM sessions WHERE trashed_at IS NULL AND (updated_at, no) < (?, ?) ORDER BY updated_at DESC, no DESC LIMIT ?',
  trash: 'SELECT * FROM sessions WHERE trashed_at IS NOT NULL AND (trashed_at, no) < (?, ?) ORDER BY trashed_at DESC, no DESC LIMIT ?',
} as const;

/** Above every timestamp there is. */
const start: ListPosition = { at: '~', no: Number.MAX_SAFE_INTEGER };

export function createSessionRows(db: Database): SessionRows {
  const byId = db.prepare<[string], SessionRow>('SELECT * FROM sessions WHERE id = ?');
  const insert = db.prepare<NewSession>(`
    INSERT INTO sessions (id, agent_id, revision_id, revision, origin, metadata, start_digest, created_at, updated_at)
    VALUES (@id, @agent_id, @revision_id, @revision, @origin, @metadata, @start_digest, @created_at, @created_at)`);
  const live = db.prepare<[string, number, number], SessionRow>(listSql.live);
  const trash = db.prepare<[string, number, number], SessionRow>(listSql.trash);
  const total = db.prepare<[], number>('SELECT count(*) FROM sessions WHERE trashed_at IS NULL').pluck();
  const trashed = db.prepare<[], number>('SELECT count(*) FROM sessions WHERE trashed_at IS NOT NULL').pluck();
  const old = db
    .prepare<[string, number], SessionId>(
      'SELECT id FROM sessions WHERE trashed_at IS NOT NULL AND trashed_at < ? ORDER BY trashed_at LIMIT ?',
    )
    .pluck();
  const family = db
    .prepare<[string], string>(
      `WITH RECURSIVE family (id) AS (SELECT ? UNION SELECT s.id FROM sessions s JOIN family f ON s.parent_id = f.id)
       SELECT id FROM family`,
    )
    .pluck();
  const erase = db.prepare<[string]>('DELETE FROM sessions WHERE id = ?');
  const readDraft = db.prepare<[string], string>('SELECT text FROM drafts WHERE key = ?').pluck();
  const writeDraft = db.prepare<[string, string, string]>(
    'INSERT INTO drafts (key, text, saved_at) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET text = excluded.text, saved_at = excluded.saved_at',
  );
  const dropDraft = db.prepare<[string]>('DELETE FROM drafts WHERE key = ?');

  return {
    get: (id) => byId.get(id),
    insert: (row) => insert.run(row),
    list: (inTrash, from, limit) => (inTrash ? trash : live).all(from?.at ?? start.at, from?.no ?? start.no, limit),
    count: () => ({ total: total.get() ?? 0, trashed: trashed.get() ?? 0 }),
    trashedBefore: (at, limit) => old.all(at, limit),
    erase(id) {
      for (const member of family.all(id)) dropDraft.run(member);
      erase.run(id);
    },
    getDraft: (key) => readDraft.get(key) ?? '',
    setDraft(key, text, at) {
      if (text === '') dropDraft.run(key);
      else writeDraft.run(key, text, at);
    },
  };
}

/** The row as callers see it (SE-01). */
export function toSession(row: SessionRow): Session {
  return {
    id: row.id,
    agentId: row.agent_id,
    agentRevisionId: row.revision_id,
    agentRevision: row.revision,
    status: row.status,
    ...(row.last_turn_status === null ? {} : { last_turn_status: row.last_turn_status }),
    title: row.title,
    titleBy: row.title_by,
    metadata: JSON.parse(row.metadata) as Session['metadata'],
    driverSessionId: row.driver_session_id,
    parentSessionId: row.parent_id,
    origin: row.origin,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
    trashedAt: row.trashed_at,
  };
}
