import { join } from 'node:path';
import type { Paths } from './ports.ts';

/** Settings that an engine itself reads (models page 14, the development ones). */
const passedOn = ['SOTTO_INFERENCE_LIB_DIR', 'SOTTO_INFERENCE_LIBRARY'] as const;
/** What a process needs of this system to find libraries and speak a language; nothing of the person. */
const systemNames = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH', 'SystemRoot', 'windir', 'NUMBER_OF_PROCESSORS'] as const;

/**
 * The whole environment of a child (ABI-12): a short list, telemetry off, and home, cache and temporary folders inside the data folder,
 * so that a library that keeps something keeps it there (RB-61). Never NODE_OPTIONS.
 */
export function childEnv(paths: Pick<Paths, 'cache' | 'tmp'>, env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of [...systemNames, ...passedOn]) {
    const value = env[name];
    if (value !== undefined) out[name] = value;
  }
  const home = join(paths.cache, 'home');
  return {
    ...out,
    ORT_DISABLE_TELEMETRY: '1',
    HOME: home,
    USERPROFILE: home,
    APPDATA: home,
    LOCALAPPDATA: home,
    XDG_CACHE_HOME: paths.cache,
    XDG_CONFIG_HOME: home,
    XDG_DATA_HOME: home,
    TMPDIR: paths.tmp,
    TEMP: paths.tmp,
    TMP: paths.tmp,
  };
}
