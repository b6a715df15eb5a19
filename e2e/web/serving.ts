import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { descendants } from '../helpers/processes.ts';
import { test as base, expect } from '../helpers/test.ts';

export type Server = {
  readonly url: string;
  readonly pid: number;
  /** The code of the line that a person reads. */
  readonly code: string;
  /** The engines that run below it now. */
  engines(): number[];
  /** SIGTERM, and its end. */
  stop(): Promise<number | null>;
  /** SIGKILL, and its end. */
  kill(): Promise<void>;
};

const cli = 'out/main/cli.cjs';

/** `sotto serve` on a data folder, as `npm start` starts it. */
async function startServer(data: string, port: number): Promise<Server> {
  const child = spawn(process.execPath, [cli, 'serve', '--data', data, '--port', String(port)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // The likeliest words only: the fixed questions hold for these over machines.
    env: { ...process.env, SOTTO_TEMPERATURE: '0' },
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const line = await firstLine(child);
  const found = /^Sotto is ready at (http:\/\/127\.0\.0\.1:\d+\/) – one-time code ([0-9A-Z]{4}-[0-9A-Z]{4}) /.exec(line);
  if (found?.[1] === undefined || found[2] === undefined) throw new Error(`not the line of a ready server: ${line}`);
  const pid = child.pid ?? 0;
  return {
    url: found[1],
    code: found[2],
    pid,
    engines: () => descendants(pid).flatMap(({ pid: engine, command }) => (command.includes('main/engine.cjs') ? [engine] : [])),
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let out = '';
    let err = '';
    child.stderr?.on('data', (bytes: Buffer) => {
      err += bytes.toString();
    });
    child.stdout?.on('data', (bytes: Buffer) => {
      out += bytes.toString();
      const end = out.indexOf('\n');
      if (end >= 0) resolve(out.slice(0, end));
    });
    child.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${err}`)));
  });
}

/** Runs the command line on a data folder and gives what it printed. */
export function sotto(data: string, ...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cli, ...args, '--data', data], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', (bytes: Buffer) => {
      out += bytes.toString();
    });
    child.once('close', (code) => (code === 0 ? resolve(out.trim()) : reject(new Error(`sotto ${args.join(' ')} ended with ${code}`))));
  });
}

/** Types a code into the form and sends it. */
export async function typeCode(page: Page, code: string): Promise<void> {
  await page.getByLabel('One-time code').fill(code);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

export async function signIn(page: Page, server: Server): Promise<void> {
  await page.goto(server.url);
  await typeCode(page, server.code);
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
}

type Fixtures = {
  /** Starts a server on this test's data folder; all are ended with the test. `port` 0 takes a free one. */
  serve: (port?: number) => Promise<Server>;
  server: Server;
};

// The browser of the system: Playwright's own is not downloaded. Root has no Chromium sandbox.
const chromium = process.env['SOTTO_CHROMIUM'] ?? '/usr/bin/chromium';

export const test = base.extend<Fixtures>({
  launchOptions: [
    async ({}, use) =>
      use({ ...(existsSync(chromium) ? { executablePath: chromium } : {}), args: ['--no-sandbox', '--disable-background-networking'] }),
    { scope: 'worker' },
  ],
  serve: async ({ data }, use) => {
    const servers: Server[] = [];
    await use(async (port = 0) => {
      const server = await startServer(data, port);
      servers.push(server);
      return server;
    });
    for (const server of servers) await server.stop();
  },
  server: async ({ serve }, use) => {
    await use(await serve());
  },
});

export { expect };
