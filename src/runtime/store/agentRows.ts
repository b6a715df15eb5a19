import type { Database } from 'better-sqlite3';
import type { AgentId, RevisionId } from '../../shared/domain/ids.ts';

export type RevisionRow = {
  id: RevisionId;
  agent_id: AgentId;
  revision: number;
  definition: string;
  definition_hash: string;
  created_at: string;
};

export type AgentRows = {
  newest(agent: AgentId): RevisionRow | undefined;
  revision(id: RevisionId): RevisionRow | undefined;
  /** Adds the next revision of an agent, and the agent itself with its first one. */
  add(revision: RevisionRow & { author: 'person' | 'assistant' | 'import' | 'system' }): void;
};

export function createAgentRows(db: Database): AgentRows {
  const newest = db.prepare<[string], RevisionRow>(
    `SELECT r.* FROM agents a JOIN agent_revisions r ON r.agent_id = a.id AND r.revision = a.newest_revision
     WHERE a.id = ? AND a.deleted_at IS NULL`,
  );
  const byId = db.prepare<[string], RevisionRow>('SELECT * FROM agent_revisions WHERE id = ?');
  const agent = db.prepare<[string, number, string, string]>(
    `INSERT INTO agents (id, newest_revision, created_at, updated_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET newest_revision = excluded.newest_revision, updated_at = excluded.updated_at`,
  );
  const revision = db.prepare<RevisionRow & { author: string }>(`
    INSERT INTO agent_revisions (id, agent_id, revision, definition, definition_hash, created_at, author)
    VALUES (@id, @agent_id, @revision, @definition, @definition_hash, @created_at, @author)`);
  return {
    newest: (id) => newest.get(id),
    revision: (id) => byId.get(id),
    add(row) {
      agent.run(row.agent_id, row.revision, row.created_at, row.created_at);
      revision.run(row);
    },
  };
}
