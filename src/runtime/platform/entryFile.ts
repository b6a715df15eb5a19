import { existsSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessSpec } from '../../shared/supervision/processStarter.ts';

/** Name of each child's bundle in `out/main` and the source that it is made of (build/entries.ts). */
const entries = {
  engine: { bundle: 'engine.cjs', source: 'src/engine/entry/main.ts' },
  runtime: { bundle: 'runtime.cjs', source: 'src/runtime/entry/forkMain.ts' },
  npmFetch: { bundle: 'npmFetch.cjs', source: 'src/runtime/models/sources/npmFetch.ts' },
} as const satisfies Record<ProcessSpec['entry'] | 'npmFetch', { bundle: string; source: string }>;

/**
 * The file that a child runs. A bundled runtime has its children beside it (in a packaged app outside the archive, which plain Node
 * cannot read); a runtime that runs from its sources takes the source, so that tests need no build.
 *
 * @param here  `import.meta.url` or the path of the running file.
 */
export function entryFile(entry: keyof typeof entries, here: string): string {
  const { bundle, source } = entries[entry];
  const file = here.startsWith('file:') ? fileURLToPath(here) : here;
  if (file.endsWith('.ts')) return join(projectRoot(file), source);
  return join(dirname(file), bundle).replace(`app.asar${sep}`, `app.asar.unpacked${sep}`);
}

/** The nearest folder above a source file that has a package.json. */
function projectRoot(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
  }
  throw new Error('no project above the running source');
}
