import { run, tailOf } from './process.mjs';
import { inRoot } from './root.mjs';

const tty = process.stdout.isTTY === true;
const pad = (name) => name.padEnd(20);

/** `12.3 s` or `4 min 05 s`. */
export function duration(ms) {
  if (ms < 100_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** What a person reads when a step can't be done: what is missing, what that means, what to do. */
export class StepProblem extends Error {
  constructor({ missing, means, todo, log }) {
    super(missing);
    this.means = means;
    this.todo = todo;
    this.log = log;
  }
}

/** Prints a problem as a short block. */
export function printProblem(name, problem) {
  console.log(`✗ ${pad(name)}${problem.message}`);
  if (problem.means !== undefined) console.log(`    It means: ${problem.means}`);
  if (problem.todo !== undefined) console.log(`    To do:    ${problem.todo}`);
  if (problem.log !== undefined) {
    const tail = tailOf(problem.log, 15);
    if (tail !== '') console.log(`    Last lines of ${problem.log}:\n${tail.replaceAll(/^/gm, '      ')}`);
  }
}

/**
 * One line of progress for one piece of work.
 *
 * @param name  a word or two.
 * @param work  does it; returns a short note for the line. Throws StepProblem.
 * @returns what `work` returned.
 */
export async function step(name, work) {
  const began = performance.now();
  const elapsed = () => duration(performance.now() - began).padStart(9);
  let ticking;
  if (tty) ticking = setInterval(() => process.stdout.write(`… ${pad(name)}${elapsed()}\r`), 500);
  else console.log(`… ${name}`);
  let note;
  try {
    note = await work();
  } finally {
    clearInterval(ticking);
  }
  const text = note === undefined ? '' : `  ${note}`;
  console.log(`✓ ${pad(name)}${elapsed()}${text}`);
  return note;
}

/** Where the output of a step's program goes. */
export const logFile = (name) => inRoot('out', 'logs', `${name.replaceAll(/\W+/g, '-')}.log`);

/** Runs a program quietly; a bad exit is a StepProblem with the given words. */
export async function quietly(name, command, words, options = {}) {
  const log = logFile(name);
  const { code, timedOut, missing } = await run(command, { ...options, log });
  if (code === 0) return;
  const why = missing ? `${command[0]} is not installed` : timedOut ? `${command[0]} took too long and was ended` : words.missing;
  throw new StepProblem({ ...words, missing: why, ...(missing ? {} : { log }) });
}
