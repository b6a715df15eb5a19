import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessSpec } from '../../shared/supervision/processStarter.ts';

/** Names of the bundles and of the sources that they are made of. */
const entries: Readonly<Record<ProcessSpec['entry'], { bundle: string; source: string }>> = {
  engine: { bundle: 'engine.cjs', source: 'src/engine/entry/main.ts' },
  runtime: { bundle: 'runtime.cjs', source: 'src/runtime/entry/forkMain.ts' },
};

/**
 * The file that a child runs. A bundled runtime has its engine beside it (`out/main`, in a packaged app outside the archive, which plain
 * Node cannot read); a runtime that runs from its sources takes the source, so that tests need no build.
 *
 * @param here  `import.meta.url` or the path of the running file.
 */
export function entryFile(entry: ProcessSpec['entry'], here: string): string {
  const { bundle, source } = entries[entry];
  const file = here.startsWith('file:') ? fileURLToPath(here) : here;
  if (file.endsWith('.ts')) return join(file.slice(0, file.lastIndexOf(join('src', 'runtime'))), source);
  const beside = join(dirname(file), bundle).replace(/app\.asar([\\/])/, 'app.asar.unpacked$1');
  return existsSync(beside) ? beside : join(dirname(beside), '..', bundle);
}
