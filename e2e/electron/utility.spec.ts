import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { resolveElectron } from '../../build/testElectron/resolve.mjs';
import { descendants, isAlive } from '../helpers/processes.ts';
import { test as base, expect } from '../helpers/test.ts';

/**
 * The form of the runtime that people have: a utilityProcess that takes ports and has main fork its engines. The test Electron is too old
 * for the real runtime there, so a copy of the build has a stub in its place, and takes that Electron for new enough.
 */
const test = base.extend<{ build: string }>({
  build: async ({}, use) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'sotto-utility-'));
    await cp('out', path.join(folder, 'out'), { recursive: true, filter: (file) => !file.includes('e2e') });
    await cp('package.json', path.join(folder, 'package.json'));
    for (const name of ['utility', 'engine']) await cp('e2e/helpers/utilityStub.cjs', path.join(folder, 'out/main', `${name}.cjs`));
    const main = path.join(folder, 'out/main/index.cjs');
    const source = await readFile(main, 'utf8');
    const patched = source.replace('Number(napi) >= 10', 'Number(napi) >= 8');
    if (patched === source) throw new Error('the line that tells old Electrons apart has changed');
    await writeFile(main, patched);
    await use(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  },
});

/** Connects like the page does, and keeps what comes in `window.heard`. */
async function connect(page: Page, purpose: 'calls' | 'voice' = 'calls'): Promise<string> {
  return page.evaluate(async (kind) => {
    const number = crypto.randomUUID();
    const heard: string[] = [];
    Reflect.deleteProperty(window, 'port');
    Reflect.set(window, 'heard', heard);
    addEventListener('message', (event) => {
      const { sotto, number: of } = event.data as { sotto?: string; number?: string };
      if (of !== number) return;
      if (sotto === 'closed') heard.push('closed');
      const [port] = event.ports;
      if (port === undefined) return;
      port.onmessage = ({ data }) => heard.push(data instanceof Uint8Array ? `bytes ${data.join(' ')}` : String(data));
      Reflect.set(window, 'port', port);
    });
    const bridge = Reflect.get(window, 'sotto') as { connect(number: string, options: object): Promise<{ status: string }> };
    const { status } = await bridge.connect(number, { purpose: kind });
    // The port comes by a message of its own, before or after this answer.
    while (Reflect.get(window, 'port') === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
    return status;
  }, purpose);
}
const say = (page: Page, text: string) => page.evaluate((t) => (Reflect.get(window, 'port') as MessagePort).postMessage(t), text);
const heard = (page: Page) => page.evaluate(() => Reflect.get(window, 'heard') as string[]);

test('as a utility process: the page speaks to it directly, main forks its engines', async ({ open, data, build }) => {
  const { needsNode } = await resolveElectron({ download: false });
  test.skip(!needsNode, 'this Electron runs the real runtime in this form');
  const sotto = await open(data, { SOTTO_NODE: '' }, build);
  const { page, pid } = sotto;
  expect(await connect(page)).toBe('connected');
  await say(page, 'hello');
  await expect.poll(() => heard(page)).toEqual(['runtime heard hello']);

  // A voice line beside it: bytes cross as bytes.
  expect(await connect(page, 'voice')).toBe('connected');
  await page.evaluate(() => {
    const port = Reflect.get(window, 'port') as MessagePort;
    port.postMessage('hello');
    port.postMessage(Uint8Array.of(1, 2, 254));
  });
  await expect.poll(() => heard(page)).toEqual(['line heard hello', 'bytes 2 3 255']);

  expect(await connect(page)).toBe('connected');
  await say(page, 'engine');
  await expect.poll(() => heard(page)).toContain('engine language heard hi, env true');
  const utilities = () => descendants(pid).filter(({ command }) => command.includes('node.mojom.NodeService'));
  expect(utilities()).toHaveLength(2);
  await say(page, 'kill');
  await expect.poll(() => heard(page)).toContainEqual(expect.stringMatching(/^engine exit/));
  await expect.poll(() => utilities().length).toBe(1);

  // The runtime dies while an engine runs: the engine goes with it, the page is told, and gets a port of the next one.
  await say(page, 'engine');
  await expect.poll(() => utilities().length).toBe(2);
  const before = utilities();
  process.kill(before[0]?.pid ?? 0, 'SIGKILL');
  await expect.poll(() => heard(page)).toContain('closed');
  await expect.poll(() => before.some((one) => isAlive(one.pid))).toBe(false);
  expect(await connect(page)).toBe('connected');
  await say(page, 'again');
  await expect.poll(() => heard(page)).toEqual(['runtime heard again']);
  await sotto.quit();
});
