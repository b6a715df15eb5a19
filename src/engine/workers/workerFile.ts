import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The file of a worker: `llmWorker.cjs` beside the bundled engine, `llmWorker.ts` in the sources. Looked for rather than written as
 * `new URL(…, import.meta.url)`, which a bundler would turn into an asset.
 *
 * @param lane  `llm`, `vad`, `asr`, `tts` or `prepare`.
 */
export function workerFile(lane: string): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const name = `${lane}Worker`;
  const candidates = [join(here, `${name}.cjs`), join(dirname(here), `${name}.cjs`), join(here, `${name}.ts`)];
  const found = candidates.find((file) => existsSync(file));
  if (found === undefined) throw new Error('the engine has no worker file beside it');
  return found;
}
