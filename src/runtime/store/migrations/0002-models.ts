import type { Migration } from '../migration.ts';

/**
 * Getting models: the job table (its row is the truth about a download, models page 9.1), the installed registry (REG-01) and the
 * ledger of outbound requests (PV-04). Times are ms since 1970, sizes bytes.
 */
export const migration: Migration = {
  version: 2,
  name: 'models',
  up(db) {
    db.exec(`
      CREATE TABLE downloads (
        job_id      TEXT PRIMARY KEY,
        model_id    TEXT NOT NULL,
        phase       TEXT NOT NULL CHECK (phase IN
                      ('queued','waiting','downloading','paused','verifying','installed','failed','cancelled')),
        received    INTEGER NOT NULL CHECK (received >= 0),
        started_at  INTEGER NOT NULL,
        updated_at  INTEGER NOT NULL,
        state       TEXT NOT NULL
      ) STRICT;
      -- DL-01: one job per model id. An installed job is history, so it does not count.
      CREATE UNIQUE INDEX downloads_one_per_model ON downloads (model_id) WHERE phase <> 'installed';
      CREATE INDEX downloads_by_update ON downloads (updated_at DESC);

      CREATE TABLE installed_models (
        id            TEXT PRIMARY KEY,
        name          TEXT NOT NULL,
        slot          TEXT NOT NULL,
        runtime_class TEXT NOT NULL,
        folder        TEXT NOT NULL,
        file          TEXT NOT NULL,
        bytes         INTEGER NOT NULL,
        sha256        TEXT NOT NULL,
        mtime_ms      INTEGER NOT NULL,
        inode         TEXT NOT NULL,
        source        TEXT NOT NULL CHECK (source IN ('download','import','external')),
        state         TEXT NOT NULL CHECK (state IN ('proven','unproven','rejected')),
        reason        TEXT,
        installed_at  INTEGER NOT NULL,
        verified_at   INTEGER NOT NULL,
        trial_at      INTEGER
      ) STRICT;

      CREATE TABLE ledger (
        id             INTEGER PRIMARY KEY AUTOINCREMENT,
        at             INTEGER NOT NULL,
        reason         TEXT NOT NULL,
        host           TEXT NOT NULL,
        port           INTEGER,
        asker          TEXT NOT NULL,
        sent_bytes     INTEGER,
        received_bytes INTEGER,
        result         TEXT NOT NULL CHECK (result IN ('open','ok','failed','refused')),
        note           TEXT
      ) STRICT;
      CREATE INDEX ledger_by_time ON ledger (at);
    `);
  },
};
