import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './root.mjs';

// Children get their own group, so that a deadline or Ctrl+C ends what they started as well (browsers, engines).
const groups = new Set();

function endGroup(child, signal) {
  try {
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch (cause) {
    if (cause.code !== 'ESRCH') throw cause;
  }
}

const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'];
let successor = null;
for (const signal of endings) {
  process.on(signal, () => {
    // Who has taken over puts its things away first; its end is ours.
    if (successor !== null) return successor.kill(signal);
    for (const child of groups) endGroup(child, signal);
    process.exit(130);
  });
}
process.once('exit', () => {
  for (const child of groups) endGroup(child, 'SIGKILL');
});

/**
 * Runs a program to its end.
 *
 * @param command  program, then its arguments.
 * @param options.log      file that takes its output; without it the output goes to the terminal.
 * @param options.env      added to the environment.
 * @param options.timeout  ms after which the program and its children are ended (asked first, 5 s later killed).
 * @returns {Promise<{code: number, timedOut: boolean, missing: boolean}>} `missing`: there is no such program. Never rejects for a bad exit.
 */
export function run(command, { log, env = {}, timeout, cwd = root } = {}) {
  let output = 'inherit';
  if (log !== undefined) {
    mkdirSync(dirname(log), { recursive: true });
    output = openSync(log, 'w');
  }
  return new Promise((resolve) => {
    const child = spawn(command[0], command.slice(1), {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', output, output],
      detached: process.platform !== 'win32',
    });
    let timedOut = false;
    let killTimer;
    const timer =
      timeout === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            endGroup(child, 'SIGTERM');
            killTimer = setTimeout(() => endGroup(child, 'SIGKILL'), 5_000);
          }, timeout);
    const end = (code, missing) => {
      clearTimeout(timer);
      clearTimeout(killTimer);
      groups.delete(child);
      // What the program left running in its group would hold ports and data folders of the next step.
      if (timedOut && child.pid !== undefined) endGroup(child, 'SIGKILL');
      if (typeof output === 'number') closeSync(output);
      resolve({ code, timedOut, missing });
    };
    child.once('error', (cause) => end(127, cause.code === 'ENOENT'));
    child.once('spawn', () => groups.add(child));
    child.once('exit', (code) => end(code ?? 1, false));
  });
}

/**
 * Hands this terminal to a program: signals go to it, and its exit is ours.
 *
 * @param command  program, then its arguments.
 * @param env      added to the environment.
 * @param noise    lines of its error output that match are left out.
 */
export function become(command, env = {}, noise) {
  const stdio = ['inherit', 'inherit', noise === undefined ? 'inherit' : 'pipe'];
  successor = spawn(command[0], command.slice(1), { env: { ...process.env, ...env }, stdio });
  if (noise !== undefined) {
    createInterface({ input: successor.stderr }).on('line', (line) => {
      if (!noise.test(line)) process.stderr.write(`${line}\n`);
    });
  }
  // `npm start` puts a shell between npm and us that hands no signal on: when it is gone, whoever started npm wants an end.
  const parent = process.ppid;
  const orphaned = () => process.ppid !== parent && successor.kill('SIGTERM');
  const watch = process.env.npm_lifecycle_event === undefined ? undefined : setInterval(orphaned, 500);
  watch?.unref();
  successor.once('error', (cause) => {
    console.error(cause.message);
    process.exitCode = 1;
  });
  successor.once('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
}

/** The last `lines` lines of a log file; '' when there is none. */
export function tailOf(file, lines = 30) {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '';
  }
}
