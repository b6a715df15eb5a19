import type { Migration } from '../migration.ts';

/** How much of a spoken answer was heard before it was interrupted (MP-07): of stored messages, and of one whose turn has not ended yet. */
export const migration: Migration = {
  version: 5,
  name: 'heard',
  up(db) {
    db.exec(`
      ALTER TABLE messages ADD COLUMN heard INTEGER CHECK (heard >= 0);
      ALTER TABLE partials ADD COLUMN heard INTEGER CHECK (heard >= 0);
    `);
  },
};
