import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder of shipped read-only data: the nearest `resources` above the running file (the project's own, or the packaged app's).
 *
 * @param here  `import.meta.url` or the path of the running file.
 */
export function resourcesDir(here: string): string {
  let folder = dirname(here.startsWith('file:') ? fileURLToPath(here) : here);
  for (;;) {
    const candidate = join(folder, 'resources');
    if (existsSync(join(candidate, 'catalogue.json'))) return candidate;
    const parent = dirname(folder);
    if (parent === folder) throw new Error('resources not found');
    folder = parent;
  }
}
