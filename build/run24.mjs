// `node build/run24.mjs script [arguments]`: runs a script with the pinned Node 24, whatever Node started this one.
import { pinnedNode } from './support/node24.mjs';
import { become } from './support/process.mjs';
import { printProblem, StepProblem } from './support/steps.mjs';

try {
  become([pinnedNode().path, ...process.argv.slice(2)]);
} catch (cause) {
  if (!(cause instanceof StepProblem)) throw cause;
  printProblem('Node 24', cause);
  console.log('    `npm run setup` installs what is needed.');
  process.exitCode = 1;
}
