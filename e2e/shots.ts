import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../test/renderer/browser.ts';
import { buildPage } from '../test/renderer/buildPage.ts';
import { createFakeRuntime } from '../test/renderer/fakeRuntime.ts';
import { servePage } from '../test/renderer/pageServer.ts';
import { firstRunScenes, modelsScenes } from './shots/firstRun.ts';
import { scenes as chatScenes, type Scene } from './shots/scenes.ts';
import { voiceScenes } from './shots/voice.ts';

/**
 * `npm run shots [-- NAME …]`: every place in its states, in both designed sizes, light and dark, as PNG files in out/shots. They are
 * made to be looked at (UX-282); nothing compares them.
 */
const sizes = { '1280x800': { width: 1280, height: 800 }, '900x640': { width: 900, height: 640 } } as const;
const themes = ['light', 'dark'] as const;
const out = path.resolve(import.meta.dirname, '../out/shots');

const scenes: readonly Scene[] = [...firstRunScenes, ...chatScenes, ...voiceScenes, ...modelsScenes];
const wanted = process.argv.slice(2);
const chosen = wanted.length === 0 ? scenes : scenes.filter((scene) => wanted.includes(scene.name));
if (wanted.length === 0) await rm(out, { recursive: true, force: true, maxRetries: 5 });
await mkdir(out, { recursive: true });

const pageDir = await buildPage(path.resolve(import.meta.dirname, '../out/shots-page'));
// A microphone that beeps, for the scenes that open one.
const browser = await launchBrowser(['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']);
const faults: string[] = [];
try {
  for (const scene of chosen) {
    for (const [size, viewport] of Object.entries(sizes)) {
      for (const theme of themes) await shoot(browser, scene, size, viewport, theme);
    }
    process.stdout.write(`${scene.name}\n`);
  }
} finally {
  await browser.close();
}
await rm(pageDir, { recursive: true, force: true, maxRetries: 5 });
if (faults.length > 0) {
  process.stderr.write(`${faults.join('\n')}\n`);
  process.exitCode = 1;
}

async function shoot(
  browserNow: Browser,
  scene: Scene,
  size: string,
  viewport: { width: number; height: number },
  theme: 'light' | 'dark',
): Promise<void> {
  const runtime = createFakeRuntime();
  await using server = await servePage(runtime.router, pageDir, runtime.voice);
  const context: BrowserContext = await browserNow.newContext({
    viewport: scene.width === undefined ? viewport : { ...viewport, width: scene.width },
    colorScheme: theme,
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page: Page = await context.newPage();
  page.setDefaultTimeout(15_000);
  await page.clock.install({ time: new Date('2026-05-03T09:41:30Z') });
  const file = `${scene.name}-${size}-${theme}`;
  page.on('console', (message) => message.type() === 'error' && !scene.loud && faults.push(`${file}: ${message.text()}`));
  page.on('pageerror', (error) => faults.push(`${file}: ${error.message}`));
  try {
    await scene.play({ page, runtime, server, narrow: viewport.width < 1024, open: () => page.goto(server.url) });
    await page.screenshot({ path: path.join(out, `${file}.png`) });
  } catch (error) {
    faults.push(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    await page.screenshot({ path: path.join(out, `${file}-FAILED.png`) });
  } finally {
    await context.close();
  }
}
