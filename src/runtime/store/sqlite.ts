import type BetterSqlite3 from 'better-sqlite3';
import { AppError } from '../../shared/errors/appError.ts';

/** The library's constructor. Kept as a value so that nothing loads the native code before the check below. */
export type Sqlite = typeof BetterSqlite3;

/** better-sqlite3 13 is built for this; on an older Node the whole process aborts instead of throwing (facts/electron-and-node.md). */
const neededNodeApi = 10;

/**
 * Loads better-sqlite3 after proving that this Node can carry it.
 *
 * @throws AppError NATIVE_ABI_MISMATCH
 */
export async function loadSqlite(nodeApi: string | undefined = process.versions.napi): Promise<Sqlite> {
  if (!(Number(nodeApi) >= neededNodeApi))
    throw new AppError('NATIVE_ABI_MISMATCH', {
      library: 'better-sqlite3',
      expected: `Node-API ${neededNodeApi}`,
      found: `Node-API ${nodeApi ?? 'none'}`,
    });
  return (await import('better-sqlite3')).default;
}
