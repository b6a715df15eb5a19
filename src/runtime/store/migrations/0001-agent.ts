import type { Migration } from '../migration.ts';

/**
 * Agents, sessions, turns and the event log with its projections (agent-runtime page, section 30). `events` is the truth; `messages`,
 * the states in `sessions` and `turns` and the full-text tables follow from it. Times are RFC 3339 texts, as in the log.
 */
export const migration: Migration = {
  version: 1,
  name: 'agent',
  up(db) {
    db.exec(`
      CREATE TABLE agents (
        id TEXT PRIMARY KEY,
        newest_revision INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        deleted_at TEXT
      ) STRICT;
      CREATE TABLE agent_revisions (
        id TEXT PRIMARY KEY,
        agent_id TEXT NOT NULL REFERENCES agents (id),
        revision INTEGER NOT NULL,
        definition TEXT NOT NULL CHECK (json_valid(definition)),
        definition_hash TEXT NOT NULL,
        created_at TEXT NOT NULL,
        reason TEXT,
        author TEXT NOT NULL CHECK (author IN ('person', 'assistant', 'import', 'system')),
        UNIQUE (agent_id, revision)
      ) STRICT;
      -- AG-02: a revision never changes.
      CREATE TRIGGER agent_revisions_fixed BEFORE UPDATE ON agent_revisions BEGIN SELECT RAISE(ABORT, 'a revision never changes'); END;
      CREATE TRIGGER agent_revisions_kept BEFORE DELETE ON agent_revisions BEGIN SELECT RAISE(ABORT, 'a revision is kept'); END;

      CREATE TABLE sessions (
        no INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        agent_id TEXT NOT NULL REFERENCES agents (id),
        revision_id TEXT NOT NULL REFERENCES agent_revisions (id),
        revision INTEGER NOT NULL,
        origin TEXT NOT NULL,
        metadata TEXT NOT NULL CHECK (json_valid(metadata)),
        start_digest TEXT NOT NULL,
        driver_session_id TEXT,
        parent_id TEXT REFERENCES sessions (id) ON DELETE CASCADE,
        created_at TEXT NOT NULL,
        -- Projected from the log:
        status TEXT NOT NULL DEFAULT 'started' CHECK (status IN ('started', 'idle', 'active', 'waitingforinput', 'failed')),
        last_turn_status TEXT CHECK (last_turn_status IN ('completed', 'failed', 'cancelled')),
        title TEXT,
        title_by TEXT CHECK (title_by IN ('owner', 'model')),
        updated_at TEXT NOT NULL,
        archived_at TEXT,
        trashed_at TEXT,
        last_sequence INTEGER NOT NULL DEFAULT 0,
        log_bytes INTEGER NOT NULL DEFAULT 0,
        context_from INTEGER,
        context_size INTEGER
      ) STRICT;
      CREATE INDEX sessions_by_update ON sessions (updated_at DESC, no DESC) WHERE trashed_at IS NULL;
      CREATE INDEX sessions_in_trash ON sessions (trashed_at DESC, no DESC) WHERE trashed_at IS NOT NULL;
      CREATE INDEX sessions_by_parent ON sessions (parent_id) WHERE parent_id IS NOT NULL;

      CREATE TABLE turns (
        no INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        session INTEGER NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
        idempotency_key TEXT NOT NULL,
        input_digest TEXT NOT NULL,
        input TEXT NOT NULL CHECK (json_valid(input)),
        input_sequence INTEGER NOT NULL,
        retry_of TEXT,
        status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'cancelling', 'completed', 'failed', 'cancelled')),
        attempt INTEGER NOT NULL DEFAULT 1,
        idle_resumes INTEGER NOT NULL DEFAULT 0,
        waiting_on TEXT CHECK (waiting_on IN ('needs_reconciliation')),
        result TEXT,
        error TEXT,
        created_at TEXT NOT NULL,
        started_at TEXT,
        completed_at TEXT,
        UNIQUE (session, idempotency_key)
      ) STRICT;
      -- TU-03: one open turn per session.
      CREATE UNIQUE INDEX turns_one_open ON turns (session) WHERE status IN ('queued', 'running', 'cancelling');
      CREATE INDEX turns_open ON turns (no) WHERE status IN ('queued', 'running', 'cancelling');
      CREATE INDEX turns_by_session ON turns (session, input_sequence);
      -- TU-01: six states, and no other way between them.
      CREATE TRIGGER turns_begin BEFORE INSERT ON turns WHEN new.status <> 'queued' BEGIN SELECT RAISE(ABORT, 'a turn begins queued'); END;
      CREATE TRIGGER turns_step BEFORE UPDATE OF status ON turns
        WHEN new.status <> old.status AND NOT (
          (old.status = 'queued' AND new.status IN ('running', 'cancelling', 'failed')) OR
          (old.status = 'running' AND new.status IN ('completed', 'cancelling', 'failed')) OR
          (old.status = 'cancelling' AND new.status = 'cancelled'))
        BEGIN SELECT RAISE(ABORT, 'no such change of a turn'); END;

      CREATE TABLE events (
        session INTEGER NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
        sequence INTEGER NOT NULL CHECK (sequence >= 1),
        id TEXT NOT NULL,
        type TEXT NOT NULL,
        ts TEXT NOT NULL,
        turn_id TEXT,
        message_id TEXT,
        data TEXT NOT NULL,
        PRIMARY KEY (session, sequence)
      ) STRICT, WITHOUT ROWID;
      -- EV-03: append only. Erasing a whole session removes its row first, and the events with it.
      CREATE TRIGGER events_fixed BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'the log is append only'); END;
      CREATE TRIGGER events_kept BEFORE DELETE ON events WHEN EXISTS (SELECT 1 FROM sessions WHERE no = old.session)
        BEGIN SELECT RAISE(ABORT, 'the log is append only'); END;

      CREATE TABLE messages (
        no INTEGER PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
        sequence INTEGER NOT NULL,
        id TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system')),
        phase TEXT CHECK (phase IN ('final', 'commentary')),
        text TEXT NOT NULL,
        at TEXT NOT NULL,
        interrupted INTEGER NOT NULL DEFAULT 0,
        unreadable INTEGER NOT NULL DEFAULT 0,
        superseded_by TEXT,
        UNIQUE (session, sequence)
      ) STRICT;
      CREATE INDEX messages_by_turn ON messages (turn_id);

      CREATE VIRTUAL TABLE messages_fts USING fts5 (text, content = 'messages', content_rowid = 'no', tokenize = 'unicode61 remove_diacritics 2');
      CREATE VIRTUAL TABLE titles_fts USING fts5 (title, content = 'sessions', content_rowid = 'no', tokenize = 'unicode61 remove_diacritics 2');
      INSERT INTO messages_fts (messages_fts, rank) VALUES ('secure-delete', 1);
      INSERT INTO titles_fts (titles_fts, rank) VALUES ('secure-delete', 1);
      -- Exchanges that a later try replaced are kept, but not found.
      CREATE TRIGGER messages_found AFTER INSERT ON messages WHEN new.superseded_by IS NULL AND new.text <> '' BEGIN
        INSERT INTO messages_fts (rowid, text) VALUES (new.no, new.text); END;
      CREATE TRIGGER messages_folded AFTER UPDATE OF superseded_by ON messages
        WHEN old.superseded_by IS NULL AND new.superseded_by IS NOT NULL AND old.text <> '' BEGIN
        INSERT INTO messages_fts (messages_fts, rowid, text) VALUES ('delete', old.no, old.text); END;
      CREATE TRIGGER messages_gone AFTER DELETE ON messages WHEN old.superseded_by IS NULL AND old.text <> '' BEGIN
        INSERT INTO messages_fts (messages_fts, rowid, text) VALUES ('delete', old.no, old.text); END;
      CREATE TRIGGER titles_found AFTER INSERT ON sessions WHEN new.title IS NOT NULL BEGIN
        INSERT INTO titles_fts (rowid, title) VALUES (new.no, new.title); END;
      CREATE TRIGGER titles_changed AFTER UPDATE OF title ON sessions WHEN old.title IS NOT new.title BEGIN
        INSERT INTO titles_fts (titles_fts, rowid, title) SELECT 'delete', old.no, old.title WHERE old.title IS NOT NULL;
        INSERT INTO titles_fts (rowid, title) SELECT new.no, new.title WHERE new.title IS NOT NULL; END;
      CREATE TRIGGER titles_gone AFTER DELETE ON sessions WHEN old.title IS NOT NULL BEGIN
        INSERT INTO titles_fts (titles_fts, rowid, title) VALUES ('delete', old.no, old.title); END;

      CREATE TABLE leases (
        session INTEGER PRIMARY KEY REFERENCES sessions (no) ON DELETE CASCADE,
        turn_id TEXT NOT NULL,
        generation INTEGER NOT NULL,
        token TEXT NOT NULL,
        taken_at TEXT NOT NULL
      ) STRICT;

      -- Text of an answer that still grows; what a dead runtime had shown is told from here.
      CREATE TABLE partials (
        turn_id TEXT PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES sessions (no) ON DELETE CASCADE,
        message_id TEXT NOT NULL,
        text TEXT NOT NULL,
        at TEXT NOT NULL
      ) STRICT;

      -- key '' is the chat that does not exist yet, else a session id.
      CREATE TABLE drafts (
        key TEXT PRIMARY KEY,
        text TEXT NOT NULL,
        saved_at TEXT NOT NULL
      ) STRICT, WITHOUT ROWID;
    `);
  },
};
