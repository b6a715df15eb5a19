import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startDisplay } from './display.ts';
import { makeTemplate, skipFirstRun } from './template.ts';

/** A display, and two data folders past the first steps that each test copies, one with the starter model. All end with the run. */
export default async function globalSetup(): Promise<() => Promise<void>> {
  if (!existsSync('out/main/index.cjs')) throw new Error('there is no build: run `npm run build` first');
  const display = await startDisplay();
  const folder = await mkdtemp(path.join(tmpdir(), 'sotto-template-'));
  await makeTemplate(folder);
  process.env['SOTTO_E2E_TEMPLATE'] = folder;
  const bare = await mkdtemp(path.join(tmpdir(), 'sotto-bare-'));
  await skipFirstRun(bare);
  process.env['SOTTO_E2E_BARE'] = bare;
  return async () => {
    await display.stop();
    for (const made of [folder, bare]) await rm(made, { recursive: true, force: true, maxRetries: 5 });
  };
}
