import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './starterModel.mjs';
import { quietly, StepProblem } from './steps.mjs';
import { findProgram } from './system.mjs';

// Recorded speech with its text, and music (test/eval/README.md has the licences). 18 MB in all; nothing of it comes into the repository.
const packages = ['asterisk-core-sounds-en-g722', 'asterisk-core-sounds-en', 'asterisk-moh-opsound-g722'];

/** Where the sounds lie: the packages' own trees, one over the other. */
export const soundsFolder = () => join(cacheFolder(), 'sounds');

const words = {
  missing: 'the recorded speech could not be fetched',
  means: 'evaluations and tests with recorded speech fail',
  todo: 'check that `apt-get download asterisk-core-sounds-en-g722` works here, then run the command again',
};

/**
 * Sees to it that recorded human speech is in the cache. The packages are only downloaded and unpacked, never installed: that needs no
 * special rights, and changes nothing in the system.
 *
 * @throws StepProblem where there is no apt-get.
 */
export async function prepareTestSounds() {
  const folder = soundsFolder();
  if (existsSync(folder)) return 'already there';
  if (findProgram('apt-get') === null || findProgram('dpkg-deb') === null) {
    throw new StepProblem({
      ...words,
      missing: 'the recorded speech comes in Debian packages, and there is no apt-get here',
      todo: `unpack ${packages.join(', ')} of Debian into ${folder}`,
    });
  }
  const fresh = `${folder}.${process.pid}`;
  const state = join(fresh, 'apt');
  try {
    mkdirSync(join(state, 'lists', 'partial'), { recursive: true });
    mkdirSync(join(state, 'archives', 'partial'), { recursive: true });
    const download = (...options) =>
      // As root apt-get would step down to an account that may not write here.
      quietly('sounds-download', ['apt-get', '-o', 'APT::Sandbox::User=', ...options, 'download', ...packages], words, {
        cwd: state,
        timeout: 5 * 60_000,
      });
    try {
      await download();
    } catch (cause) {
      if (!(cause instanceof StepProblem)) throw cause;
      // A bare image has no lists of packages: ours are kept beside it, and go with it.
      const own = ['-o', `Dir::State::Lists=${join(state, 'lists')}`, '-o', `Dir::Cache=${state}`, '-o', 'APT::Sandbox::User='];
      await quietly('sounds-lists', ['apt-get', ...own, '-o', 'Debug::NoLocking=1', 'update', '-qq'], words, { timeout: 5 * 60_000 });
      await download(...own);
    }
    const files = readdirSync(state).filter((name) => name.endsWith('.deb'));
    for (const file of files) await quietly('sounds-unpack', ['dpkg-deb', '-x', join(state, file), join(fresh, 'tree')], words);
    const tree = join(fresh, 'tree');
    const isWhole =
      existsSync(join(tree, textFile)) &&
      readdirSync(join(tree, promptFolder), { recursive: true }).length > 400 &&
      existsSync(join(tree, musicFolder));
    if (!isWhole) throw new StepProblem({ ...words, missing: 'the packages of recorded speech hold something else than expected' });
    placeWhole(tree, folder);
    return files.map((file) => file.split('_').slice(0, 2).join(' ')).join(', ');
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Inside the folder of sounds. */
export const textFile = 'usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz';
export const promptFolder = 'usr/share/asterisk/sounds/en_US_f_Allison';
export const musicFolder = 'usr/share/asterisk/moh';

// Two set-ups at once: who comes second finds it done.
function placeWhole(from, to) {
  try {
    renameSync(from, to);
  } catch (cause) {
    if (!existsSync(to)) throw cause;
  }
}
