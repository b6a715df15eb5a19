import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startDisplay } from './display.ts';
import { makeTemplate } from './template.ts';

/** A display, and a data folder with the starter model that each test copies. Both end with the run. */
export default async function globalSetup(): Promise<() => Promise<void>> {
  if (!existsSync('out/main/index.cjs')) throw new Error('there is no build: run `npm run build` first');
  const display = await startDisplay();
  const folder = await mkdtemp(path.join(tmpdir(), 'sotto-template-'));
  await makeTemplate(folder);
  process.env['SOTTO_E2E_TEMPLATE'] = folder;
  return async () => {
    await display.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
