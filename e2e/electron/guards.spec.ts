import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { ElectronApplication, Page } from '@playwright/test';
import { resolveElectron } from '../../build/testElectron/resolve.mjs';
import { listen } from '../helpers/listener.ts';
import { expect, proves, test } from '../helpers/test.ts';

/** Another window with our own preload, on an address of the test's choice. */
async function windowOn(app: ElectronApplication, address: string): Promise<Page> {
  const opened = app.waitForEvent('window');
  await app.evaluate(
    async ({ BrowserWindow }, { url, preload }) => {
      const window = new BrowserWindow({ show: false, webPreferences: { preload, sandbox: true, contextIsolation: true } });
      await window.loadURL(url).catch(() => {});
    },
    { url: address, preload: path.resolve('out/preload/index.cjs') },
  );
  const page = await opened;
  await page.waitForLoadState();
  return page;
}

/** Asks for a port as a page would. */
function ask(page: Page) {
  return page.evaluate(async () => {
    const number = crypto.randomUUID?.() ?? '0123456789abcdef0123';
    let ports = 0;
    // The page itself is connecting at this time, too.
    addEventListener('message', (event) => {
      if ((event.data as { number?: string }).number === number) ports += event.ports.length;
    });
    const bridge = Reflect.get(window, 'sotto') as { connect(number: string): Promise<{ status: string; error?: { code: string } }> };
    const reply = await bridge.connect(number);
    await new Promise((resolve) => setTimeout(resolve, 200));
    return { status: reply.status, code: reply.error?.code, ports };
  });
}

test.describe('the guards of main', () => {
  test('a port goes to our own page only', proves('RB-02'), async ({ sotto: { app, page } }) => {
    await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
    // The same question from our own page is answered: what follows is refused for its sender alone.
    expect(await ask(page)).toEqual({ status: 'connected', code: undefined, ports: 1 });
    const others = ['data:text/html,<h1>me</h1>', 'app://sotto.evil/', 'app://sotto-evil/', 'about:blank'];
    for (const address of others) {
      const other = await windowOn(app, address);
      expect(await ask(other), address).toEqual({ status: 'failed', code: 'FORBIDDEN_SENDER', ports: 0 });
      await other.close();
    }
    // A frame inside our page does not even get the bridge.
    const framed = await page.evaluate(async () => {
      const frame = document.createElement('iframe');
      frame.srcdoc = '<p>inside</p>';
      document.body.append(frame);
      await new Promise((resolve) => setTimeout(resolve, 300));
      const inside = frame.contentWindow;
      const bridge = inside === null ? undefined : (Reflect.get(inside, 'sotto') as unknown);
      frame.remove();
      return typeof bridge;
    });
    expect(framed).toBe('undefined');
  });

  test('refuses every permission but the clipboard of the page itself', async ({ sotto: { page } }) => {
    await page.getByRole('textbox', { name: 'Message' }).click();
    const answers = await page.evaluate(async () => {
      // First, while the page has the focus of that click.
      const writing = await navigator.clipboard.writeText('copied').then(
        () => 'allowed',
        () => 'refused',
      );
      const state = async (name: string) => (await navigator.permissions.query({ name: name as PermissionName })).state;
      const fails = async (action: Promise<unknown>) =>
        action.then(
          () => 'allowed',
          (error: unknown) => (error instanceof Error ? error.name : 'GeolocationPositionError'),
        );
      return {
        notifications: await Notification.requestPermission(),
        camera: await fails(navigator.mediaDevices.getUserMedia({ video: true })),
        microphone: await fails(navigator.mediaDevices.getUserMedia({ audio: true })),
        screen: await fails(navigator.mediaDevices.getDisplayMedia()),
        place: await fails(new Promise((resolve, reject) => navigator.geolocation.getCurrentPosition(resolve, reject))),
        midi: await state('midi'),
        reading: await state('clipboard-read'),
        writing,
      };
    });
    expect(answers).toMatchObject({
      notifications: 'denied',
      place: 'GeolocationPositionError',
      midi: 'denied',
      reading: 'denied',
      writing: 'allowed',
    });
    for (const refused of [answers.camera, answers.microphone, answers.screen]) expect(refused).not.toBe('allowed');
  });

  test('stays where it is, and opens only https and mailto outside, after a press', async ({ sotto: { app, page } }) => {
    await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
    await app.evaluate(({ shell }) => {
      const left: string[] = [];
      Reflect.set(globalThis, 'left', left);
      shell.openExternal = async (url) => void left.push(url);
    });
    const left = () => app.evaluate(() => Reflect.get(globalThis, 'left') as string[]);
    const windows = app.windows().length;

    // No press: a script alone opens nothing.
    await page.evaluate(() => window.open('https://example.com/by-script'));
    for (const address of ['https://example.com/', 'file:///etc/passwd', 'data:text/html,x', 'app://sotto.evil/', 'javascript:void 0']) {
      await page.evaluate((url) => {
        location.href = url;
      }, address);
    }
    expect(await left()).toEqual([]);
    expect(page.url()).toBe('app://sotto/');
    // Chromium asks nobody before about:blank; the window comes back from it.
    await page.evaluate(() => {
      location.href = 'about:blank';
    });
    await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
    expect(page.url()).toBe('app://sotto/');

    await page.evaluate(() => {
      document.body.insertAdjacentHTML(
        'beforeend',
        [
          'https://example.com/a',
          'mailto:me@example.com',
          'http://example.com/',
          'file:///etc/passwd',
          'smb://host/x',
          'vscode://x',
          'app://sotto/',
        ]
          .map(
            (url, i) =>
              `<a data-test="${i}" style="position:fixed;z-index:9999;top:${i * 30}px;left:0" target="_blank" href="${url}">${url}</a>`,
          )
          .join(''),
      );
    });
    for (let i = 0; i < 7; i++) await page.locator(`[data-test="${i}"]`).click();
    await expect.poll(left).toEqual(['https://example.com/a', 'mailto:me@example.com']);
    expect(app.windows()).toHaveLength(windows);
    expect(page.url()).toBe('app://sotto/');
  });

  test('has no network, not even on loopback', proves('PV-03'), async ({ sotto: { app, page } }) => {
    const outside = await listen();
    await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
    await page
      .evaluate(async (url) => {
        await fetch(`${url}/fetch`).catch(() => {});
        const image = new Image();
        image.src = `${url}/image`;
        const frame = document.createElement('iframe');
        frame.src = `${url}/frame`;
        document.body.append(image, frame);
        document.body.style.backgroundImage = `url(${url}/css)`;
        new WebSocket(url.replace('http', 'ws'));
      }, outside.url)
      .catch(() => {});
    // Without the page's own rules: a window of another page, and a window that is sent there.
    const bare = await windowOn(app, 'data:text/html,<title>bare</title>');
    await bare.evaluate((url) => fetch(`${url}/bare`).catch(() => {}), outside.url);
    const direct = await windowOn(app, `${outside.url}/window`);
    expect(await direct.title()).not.toContain('outside');
    expect(outside.hits).toEqual([]);
    await outside.close();
  });

  test('is there once: a second start shows the first window', async ({ sotto }) => {
    await expect(sotto.page.getByRole('textbox', { name: 'Message' })).toBeVisible();
    const window = await sotto.app.browserWindow(sotto.page);
    await window.evaluate((w) => w.hide());
    const { executable, flags } = await resolveElectron({ download: false });
    const second = spawn(executable, [...flags, process.cwd()], { env: { ...process.env, SOTTO_DATA_DIR: sotto.data }, stdio: 'ignore' });
    const [code] = (await once(second, 'exit')) as [number | null];
    expect(code).toBe(0);
    await expect.poll(() => window.evaluate((w) => w.isVisible())).toBe(true);
    expect(sotto.app.windows()).toHaveLength(1);
  });
});
