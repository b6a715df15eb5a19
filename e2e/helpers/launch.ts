import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ElectronApplication, _electron as electron, type Page } from '@playwright/test';
import { resolveElectron } from '../../build/testElectron/resolve.mjs';
import { isAlive, partsOf } from './processes.ts';

/** Playwright's own loader holds `ready` back until it listens; it adds it only where it finds the executable itself. */
export const playwrightLoader = path.resolve('node_modules/playwright-core/lib/server/electron/loader.js');

export type Sotto = {
  readonly app: ElectronApplication;
  readonly page: Page;
  readonly data: string;
  readonly pid: number;
  /** What main and the window's console said so far. */
  readonly said: readonly string[];
  /** Ends the app as a person does; resolves when its processes are gone. */
  quit(): Promise<void>;
  /** Kills main with no word (SIGKILL). */
  killMain(): Promise<void>;
};

/**
 * Opens the built app in the Electron of this machine.
 *
 * @param data   its data folder; it is kept.
 * @param env    added to, or put in place of, what the app gets to see.
 * @param build  folder with package.json and out/; default: this checkout.
 * @param flags  switches for its browser.
 */
export async function launch(
  data: string,
  env: Readonly<Record<string, string>> = {},
  build = process.cwd(),
  flags: readonly string[] = [],
): Promise<Sotto> {
  const found = await resolveElectron({ download: false });
  // Nothing of the person who runs the tests: their configuration, caches and keys stay out.
  const home = await mkdtemp(path.join(tmpdir(), 'sotto-home-'));
  const app = await electron.launch({
    // Always given: without it Playwright asks the electron package, which wants to download.
    executablePath: found.executable,
    args: ['-r', playwrightLoader, ...found.flags, ...flags, build],
    cwd: process.cwd(),
    // Else Playwright forces 'light' and the system's choice has no effect.
    colorScheme: null,
    timeout: 60_000,
    env: {
      PATH: process.env['PATH'] ?? '',
      LANG: 'C.UTF-8',
      DISPLAY: process.env['DISPLAY'] ?? '',
      HOME: home,
      XDG_CONFIG_HOME: path.join(home, 'config'),
      XDG_CACHE_HOME: path.join(home, 'cache'),
      XDG_DATA_HOME: path.join(home, 'share'),
      XDG_RUNTIME_DIR: home,
      SOTTO_DATA_DIR: data,
      // The likeliest words only: the fixed questions hold for these over machines.
      SOTTO_TEMPERATURE: '0',
      ...(found.needsNode ? { SOTTO_NODE: process.execPath } : {}),
      ...env,
    },
  });
  const said: string[] = [];
  app.process().stderr?.on('data', (bytes: Buffer) => {
    for (const line of bytes.toString().split('\n')) if (line !== '' && !line.includes('bus.cc')) said.push(line);
  });
  const page = await app.firstWindow();
  page.on('console', (message) => said.push(`console ${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => said.push(`page error: ${error.message}`));
  await page.waitForLoadState();

  const pid = app.process().pid ?? 0;
  const gone = async () => {
    const { runtime, engines } = partsOf(pid);
    return [pid, ...(runtime === null ? [] : [runtime]), ...engines];
  };
  const waitGone = async (pids: readonly number[]) => {
    while (pids.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 20));
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  return {
    app,
    page,
    data,
    pid,
    said,
    async quit() {
      const pids = await gone();
      await app.close();
      await waitGone(pids);
    },
    async killMain() {
      const pids = await gone();
      process.kill(pid, 'SIGKILL');
      await waitGone(pids);
      await app.close().catch(() => {});
    },
  };
}

/** The runtime's log of a data folder, line by line. */
export async function logOf(data: string): Promise<string> {
  return readFile(path.join(data, 'logs', 'sotto.log'), 'utf8').catch(() => '');
}
