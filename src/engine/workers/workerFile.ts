import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The file of the worker: `llmWorker.cjs` beside the bundled engine, `llmWorker.ts` in the sources. Looked for rather than written as
 * `new URL(…, import.meta.url)`, which a bundler would turn into an asset.
 */
export function workerFile(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const candidates = [join(here, 'llmWorker.cjs'), join(dirname(here), 'llmWorker.cjs'), join(here, 'llmWorker.ts')];
  const found = candidates.find((file) => existsSync(file));
  if (found === undefined) throw new Error('the engine has no worker file beside it');
  return found;
}
