import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, link, mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const language = 'smollm2-135m-instruct-q4_1';
/** What listens, speaks and notices speech. Piper speaks: it keeps up on a machine of two cores. */
const speech = ['moonshine-tiny', 'piper-en-us-joe', 'silero-vad-v5'];

/** The tests' copy of a model of the catalogue; `npm run setup -- --test` puts it there. */
export function modelFile(id: string): string {
  const { entries } = JSON.parse(readFileSync('resources/catalogue.json', 'utf8')) as { entries: { id: string; file: { name: string } }[] };
  const entry = entries.find((one) => one.id === id);
  if (entry === undefined) throw new Error(`the catalogue has no ${id}`);
  const cache = process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache');
  const file = path.join(cache, 'sotto', 'models', entry.file.name);
  if (!existsSync(file)) throw new Error(`the test model ${id} is missing: run \`npm run setup -- --test\` first`);
  return file;
}

/** Fills an empty folder with what the product itself makes of it: a database and the starter model, installed and proven. */
export async function makeTemplate(folder: string): Promise<void> {
  await fill(folder, [language]);
}

/**
 * The same with what talking needs.
 *
 * @param said  sound files to be made, and what the product's own voice says in them.
 */
export async function makeVoiceTemplate(folder: string, said: ReadonlyMap<string, string>): Promise<void> {
  await fill(
    folder,
    [language, ...speech],
    [...said].flatMap(([file, text]) => ['--say', `${file}=${text}`]),
  );
}

async function fill(folder: string, models: readonly string[], more: readonly string[] = []): Promise<void> {
  const args = ['e2e/helpers/makeTemplate.ts', folder, ...models.map((id) => `${id}=${modelFile(id)}`), ...more];
  await promisify(execFile)(process.execPath, args, { timeout: 240_000 });
}

/** Makes a data folder past the first steps. */
export async function skipFirstRun(folder: string): Promise<void> {
  await promisify(execFile)(process.execPath, ['e2e/helpers/skipFirstRun.ts', folder], { timeout: 60_000 });
}

/** A data folder as on a machine that never saw Sotto. */
export const emptyDataFolder = (): Promise<string> => mkdtemp(path.join(tmpdir(), 'sotto-e2e-'));

/** A data folder of one test: a copy of the template. The model file is linked, so that it is the same proven file. */
export async function freshDataFolder(withModel: boolean, template = process.env['SOTTO_E2E_TEMPLATE']): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sotto-e2e-'));
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

const isModel = (name: string) => /\.(gguf|onnx|pack)$/.test(name);

async function copyLinked(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) await copyLinked(source, target);
    else if (isModel(entry.name)) await link(source, target);
    else await cp(source, target, { preserveTimestamps: true });
  }
}

/** Puts a conversation with this answer into a data folder, through the product's own runtime. */
export async function seed(data: string, answer: string): Promise<void> {
  const file = path.join(data, 'answer.md');
  await writeFile(file, answer);
  await promisify(execFile)(process.execPath, ['e2e/helpers/seed.ts', data, file], { timeout: 60_000 });
}
