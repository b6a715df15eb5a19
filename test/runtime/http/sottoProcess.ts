import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../../src/runtime/entry/cli.ts', import.meta.url));

export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly out: string; readonly err: string };

export type Running = {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** The first line on stdout that is whole; rejects when the process ends without one. */
  readonly firstLine: Promise<string>;
};

/** Starts the real command line from its sources, with an environment that names nothing but what is given. */
export function startSotto(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const child = spawn(process.execPath, [cli, ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8');
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text: string) => {
    err += text;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, out, err }));
  });
  const firstLine = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (text: string) => {
      out += text;
      const end = out.indexOf('\n');
      if (end >= 0) resolve(out.slice(0, end));
    });
    ended.then(
      (how) => reject(new Error(`ended with ${how.code} and no line: ${how.err}`)),
      () => {},
    );
  });
  firstLine.catch(() => {});
  return { child, ended, firstLine };
}

export const runSotto = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  startSotto(args, env).ended;

/** A fresh data folder with what tests ask of it. */
export function dataFolder() {
  const path = mkdtempSync(join(tmpdir(), 'sotto-serve-'));
  return {
    path,
    file: (name: string) => join(path, name),
    read: (name: string) => readFileSync(join(path, name), 'utf8'),
    has: (name: string) => existsSync(join(path, name)),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** `sotto serve --json` on a free port, once it is ready. Ends with its scope. */
export async function startServe(data: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const running = startSotto(['serve', '--json', '--port', '0', '--data', data, ...args], env);
  const line: unknown = JSON.parse(await running.firstLine);
  const { url, instance } = Object(line) as { url: string; instance: string };
  return {
    ...running,
    line,
    url,
    instance,
    async [Symbol.asyncDispose]() {
      running.child.kill('SIGTERM');
      await running.ended;
    },
  };
}
