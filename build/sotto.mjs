#!/usr/bin/env node
// `sotto`: the command line on the Node that the product needs, whatever Node started this file.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { pinnedNode } from './support/node24.mjs';
import { inRoot } from './support/root.mjs';
import { printProblem, StepProblem } from './support/steps.mjs';

const cli = inRoot('out', 'main', 'cli.cjs');
try {
  if (!existsSync(cli)) {
    throw new StepProblem({ missing: 'Sotto is not built yet', means: 'there is nothing to run', todo: 'run `npm run setup` once' });
  }
  const child = spawn(pinnedNode().path, [cli, ...process.argv.slice(2)], { stdio: 'inherit' });
  // The child decides what a signal means; this process only waits for its end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('error', (cause) => {
    console.error(cause.message);
    process.exitCode = 70;
  });
  child.once('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
  });
} catch (cause) {
  if (!(cause instanceof StepProblem)) throw cause;
  printProblem('sotto', cause);
  process.exitCode = 69;
}
