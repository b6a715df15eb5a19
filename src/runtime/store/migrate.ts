import type { Database } from 'better-sqlite3';
import { AppError } from '../../shared/errors/appError.ts';
import type { Logger } from '../platform/ports.ts';
import type { Migration } from './migration.ts';

/** The newest schema that these steps know. Their numbers are 1, 2, 3 … without holes. */
export function newestVersion(migrations: readonly Migration[]): number {
  migrations.forEach((migration, index) => {
    if (migration.version !== index + 1) throw new Error(`migration ${migration.name} has number ${migration.version}, not ${index + 1}`);
  });
  return migrations.length;
}

/**
 * Applies what is missing, each step in a transaction of its own together with the new number.
 *
 * @param beforeData  called once, before the first step, when the database already holds data.
 * @throws AppError DB_FROM_FUTURE when the database knows more steps than we do.
 */
export function migrate(db: Database, migrations: readonly Migration[], log: Logger, beforeData: () => void): void {
  const known = newestVersion(migrations);
  const found = Number(db.pragma('user_version', { simple: true }));
  if (found > known) throw new AppError('DB_FROM_FUTURE', { found, known });
  if (found === known) return;
  if (found > 0) beforeData();
  for (const migration of migrations.slice(found)) {
    db.transaction(() => {
      migration.up(db);
      const broken = db.pragma('foreign_key_check');
      if (Array.isArray(broken) && broken.length > 0) throw new Error(`migration ${migration.name} broke ${broken.length} references`);
      db.pragma(`user_version = ${migration.version}`);
    }).immediate();
    log.info('store.migrated', { version: migration.version, name: migration.name });
  }
  // So that the number stands in the file's own header, where an older build looks before it opens anything.
  db.pragma('wal_checkpoint(TRUNCATE)');
}
