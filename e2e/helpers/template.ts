import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, link, mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** The tests' copy of the starter model; `npm run setup` puts it there. */
function modelFile(): string {
  const cache = process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache');
  return path.join(cache, 'sotto', 'models', 'SmolLM2-135M-Instruct.Q4_1.gguf');
}

/** Fills an empty folder with what the product itself makes of it: a database and the starter model, installed and proven. */
export async function makeTemplate(folder: string): Promise<void> {
  const model = modelFile();
  if (!existsSync(model)) throw new Error('the test model is missing: run `npm run setup` first');
  await promisify(execFile)(process.execPath, ['e2e/helpers/makeTemplate.ts', folder, model], { timeout: 120_000 });
}

/** Makes a data folder past the first steps. */
export async function skipFirstRun(folder: string): Promise<void> {
  await promisify(execFile)(process.execPath, ['e2e/helpers/skipFirstRun.ts', folder], { timeout: 60_000 });
}

/** A data folder as on a machine that never saw Sotto. */
export const emptyDataFolder = (): Promise<string> => mkdtemp(path.join(tmpdir(), 'sotto-e2e-'));

/** A data folder of one test: a copy of the template. The model file is linked, so that it is the same proven file. */
export async function freshDataFolder(withModel: boolean): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sotto-e2e-'));
  const template = process.env['SOTTO_E2E_TEMPLATE'];
  if (!withModel) {
    const bare = process.env['SOTTO_E2E_BARE'];
    if (bare === undefined) throw new Error('globalSetup did not run');
    await copyLinked(bare, folder);
    return folder;
  }
  if (template === undefined) throw new Error('globalSetup did not run');
  await copyLinked(template, folder);
  return folder;
}

async function copyLinked(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) await copyLinked(source, target);
    else if (entry.name.endsWith('.gguf')) await link(source, target);
    else await cp(source, target, { preserveTimestamps: true });
  }
}

/** Puts a conversation with this answer into a data folder, through the product's own runtime. */
export async function seed(data: string, answer: string): Promise<void> {
  const file = path.join(data, 'answer.md');
  await writeFile(file, answer);
  await promisify(execFile)(process.execPath, ['e2e/helpers/seed.ts', data, file], { timeout: 60_000 });
}
