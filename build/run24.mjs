// `node build/run24.mjs script [arguments]`: runs a script with the pinned Node 24, whatever Node started this one.
import { spawn } from 'node:child_process';
import { pinnedNode } from './support/node24.mjs';
import { printProblem, StepProblem } from './support/steps.mjs';

try {
  const child = spawn(pinnedNode().path, process.argv.slice(2), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('error', (cause) => {
    console.error(cause.message);
    process.exitCode = 1;
  });
  child.once('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
} catch (cause) {
  if (!(cause instanceof StepProblem)) throw cause;
  printProblem('Node 24', cause);
  console.log('    `npm run setup` installs what is needed.');
  process.exitCode = 1;
}
