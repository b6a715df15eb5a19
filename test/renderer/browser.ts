import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** The browser that is here: a named one, the system's, or Playwright's own. @param more  switches of the browser. */
export async function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  const named = process.env['SOTTO_CHROMIUM'];
  const system = '/usr/bin/chromium';
  const executablePath = named ?? (process.platform === 'linux' && existsSync(system) ? system : undefined);
  return chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', ...more],
  });
}
