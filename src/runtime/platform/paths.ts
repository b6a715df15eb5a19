import { chmod, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Paths } from './ports.ts';

/**
 * Where Sotto keeps everything: `SOTTO_DATA_DIR`, else the place for application data of this system, in a folder of its own.
 *
 * @param env       environment; empty values count as unset.
 * @param platform  `process.platform`.
 * @param home      home folder of the user.
 */
export function dataDir(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform, home: string = homedir()): string {
  const own = env.SOTTO_DATA_DIR;
  if (own !== undefined && own !== '') return resolve(own);
  if (platform === 'win32') return join(env.APPDATA || join(home, 'AppData', 'Roaming'), 'Sotto');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Sotto');
  // XDG: a relative value is invalid and must be ignored (base directory specification 0.8).
  const xdg = env.XDG_DATA_HOME;
  return join(xdg !== undefined && isAbsolute(xdg) ? xdg : join(home, '.local', 'share'), 'sotto');
}

/**
 * All places below one data folder.
 *
 * @param data       absolute path of the data folder.
 * @param modelsDir  `SOTTO_MODELS_DIR`: another place for model files.
 */
export function pathsOf(data: string, modelsDir?: string): Paths {
  const models = modelsDir !== undefined && modelsDir !== '' ? resolve(modelsDir) : join(data, 'models');
  return {
    data,
    database: join(data, 'sotto.db'),
    lock: join(data, 'lock.db'),
    backups: join(data, 'backups'),
    models,
    parts: join(models, '.parts'),
    cache: join(data, 'cache'),
    tmp: join(data, 'tmp'),
    logs: join(data, 'logs'),
    httpJson: join(data, 'http.json'),
    httpToken: join(data, 'http-token'),
  };
}

/** Makes the folders, readable by their owner alone. An older, laxer data folder is tightened. */
export async function makeFolders(paths: Paths): Promise<void> {
  for (const folder of [
    paths.data,
    paths.backups,
    paths.models,
    paths.parts,
    paths.cache,
    join(paths.cache, 'home'),
    paths.tmp,
    paths.logs,
  ]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }
  await chmod(paths.data, 0o700);
}
