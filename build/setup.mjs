// `npm run setup`: everything that `npm start` needs, from a bare clone. `--test` adds what only the tests need.
// Runs on Node 20 and needs no package: until its first step is done there are none.
import { pathToFileURL } from 'node:url';
import { buildApp } from './support/built.mjs';
import { pinnedNode } from './support/node24.mjs';
import { installPackages } from './support/packages.mjs';
import { prepareTestModel, pullStarterModel } from './support/starterModel.mjs';
import { duration, printProblem, StepProblem, step } from './support/steps.mjs';
import { hasDisplay, installTestPrograms, installWindowLibraries } from './support/system.mjs';
import { prepareTestSounds } from './support/testSounds.mjs';
import { prepareTranscriber } from './support/transcriber.mjs';

// A problem in a needed step ends the set-up; in another one the rest goes on, since a page without a window is still an app.
async function tryStep(name, work, problems) {
  try {
    return await step(name, work);
  } catch (cause) {
    if (!(cause instanceof StepProblem)) throw cause;
    printProblem(name, cause);
    problems.push(name);
    return undefined;
  }
}

/**
 * Brings a checkout to where the app can start. Every step looks first whether it is done already.
 *
 * @param options.test   also what only tests need, and the model into the tests' cache instead of the person's data folder.
 * @param options.model  false leaves the starter model to the caller.
 * @returns {Promise<{electron: import('./testElectron/resolve.mjs').FoundElectron | null, problems: string[]}>}
 *   `electron` is null where none can be had. Throws StepProblem when there is nothing to start.
 */
export async function setup({ test = false, model = true } = {}) {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    throw new StepProblem({
      missing: `this is Node ${process.versions.node}`,
      means: 'the set-up needs Node 20 or later',
      todo: 'install it',
    });
  }
  const problems = [];
  await step('packages', installPackages);
  await step('Node 24', async () => pinnedNode().version);
  let electron = null;
  await tryStep(
    'Electron',
    async () => {
      // Loaded only here: it reads a package.
      const { resolveElectron } = await import('./testElectron/resolve.mjs');
      try {
        electron = await resolveElectron();
      } catch (cause) {
        throw new StepProblem({
          missing: cause.message,
          means: 'no window; the page of `serve` works',
          todo: 'check the network and run the command again',
        });
      }
      return electron.reason;
    },
    problems,
  );
  if (electron !== null && (test || hasDisplay()))
    await tryStep('window libraries', () => installWindowLibraries(electron.executable), problems);
  if (test) await tryStep('test programs', installTestPrograms, problems);
  if (test) await tryStep('recorded speech', prepareTestSounds, problems);
  if (test) await tryStep('transcriber', prepareTranscriber, problems);
  // Tests of the sources still say something when the build is broken; an app can't start without one.
  if (test) await tryStep('build', buildApp, problems);
  else await step('build', buildApp);
  if (model) {
    const work = test ? prepareTestModel : async () => await pullStarterModel();
    await tryStep('language model', work, problems);
  }
  return { electron, problems };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const began = performance.now();
  try {
    const { problems } = await setup({ test: process.argv.includes('--test') });
    if (problems.length > 0)
      console.log(`\nSet up in ${duration(performance.now() - began)}, but without: ${problems.join(', ')} (see above).`);
    else console.log(`\nSet up in ${duration(performance.now() - began)}. \`npm start\` opens the app.`);
    process.exitCode = problems.length > 0 ? 1 : 0;
  } catch (cause) {
    if (!(cause instanceof StepProblem)) throw cause;
    printProblem('set-up', cause);
    process.exitCode = 1;
  }
}
