import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './starterModel.mjs';
import { quietly, StepProblem } from './steps.mjs';
import { works } from './system.mjs';

// PocketSphinx with the American English model that its package holds: 29 MB, BSD 2-clause. It shares nothing with what the app listens
// with (hidden Markov models of CMU, not a network), so that a sound which it understands is speech, and not only a likeness of ours.
const name = 'pocketsphinx';
const version = '5.1.1';

/** Where it lies: to be put on Python's path. */
export const transcriberFolder = () => join(cacheFolder(), 'transcriber', `${name}-${version}`);

const words = {
  missing: 'the transcriber that checks what the app says could not be fetched',
  means: 'end-to-end tests of talking fail',
  todo: 'check that `python3 -m pip download` reaches a package index here, then run the command again',
};

/**
 * Sees to it that an engine outside the app is there that writes down what the app says aloud. Nothing is installed into the system, and
 * nothing of it is shipped.
 *
 * @throws StepProblem where there is no pip.
 */
export async function prepareTranscriber() {
  const folder = transcriberFolder();
  if (existsSync(folder)) return 'already there';
  if (!works(['python3', '-m', 'pip', '--version'])) throw new StepProblem({ ...words, missing: 'python3 with pip is not installed' });
  const fresh = `${folder}.${process.pid}`;
  try {
    mkdirSync(fresh, { recursive: true });
    // Without what it needs for a microphone: it is given samples.
    const pip = ['python3', '-m', 'pip', 'install', '--no-deps', '--only-binary', ':all:', '--target', fresh, `${name}==${version}`];
    await quietly('transcriber', pip, words, { timeout: 5 * 60_000 });
    if (!existsSync(folder)) renameSync(fresh, folder);
    return `${name} ${version}`;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
