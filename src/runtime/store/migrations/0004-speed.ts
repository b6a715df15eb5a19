import type { Migration } from '../migration.ts';

/** What the trial of a speaking model measured: seconds that this machine took for one second of speech (VO-62). NULL = not measured. */
export const migration: Migration = {
  version: 4,
  name: 'speed',
  up(db) {
    db.exec('ALTER TABLE installed_models ADD COLUMN speed_factor REAL CHECK (speed_factor > 0)');
  },
};
