import type { Migration } from '../migration.ts';

/** Keys and signed-in pages (SV-07, SV-10), one-time codes, settings. Times are ms since 1970. Secrets are kept as SHA-256 only. */
export const migration: Migration = {
  version: 3,
  name: 'server',
  up(db) {
    db.exec(`
      CREATE TABLE access_keys (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('key', 'page')),
        name TEXT NOT NULL,
        digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
        host TEXT,
        created_at INTEGER NOT NULL,
        last_used_at INTEGER,
        expires_at INTEGER,
        revoked_at INTEGER
      ) STRICT;
      CREATE TABLE sign_in_codes (
        digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
        created_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE settings (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL CHECK (json_valid(value))
      ) STRICT, WITHOUT ROWID;
    `);
  },
};
