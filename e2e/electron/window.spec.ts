import { rows } from '../helpers/database.ts';
import { expect, test } from '../helpers/test.ts';

test.describe('the window', () => {
  test('opens with the page, isolated and without Node', async ({ sotto: { app, page } }) => {
    await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
    expect(page.url()).toBe('app://sotto/');
    const seen = await page.evaluate(() => ({
      bridge: Object.keys(Reflect.get(window, 'sotto') as object),
      node: [typeof Reflect.get(window, 'require'), typeof Reflect.get(window, 'process'), typeof Reflect.get(window, 'ipcRenderer')],
      secure: isSecureContext,
      isolated: crossOriginIsolated,
    }));
    expect(seen).toEqual({ bridge: ['connect'], node: ['undefined', 'undefined', 'undefined'], secure: true, isolated: true });
    const window = await app.browserWindow(page);
    expect(await window.evaluate((w) => ({ size: w.getSize(), minimum: w.getMinimumSize(), visible: w.isVisible() }))).toEqual({
      size: [1280, 800],
      minimum: [640, 480],
      visible: true,
    });
    // A window of a sandboxed page is refused what an unsandboxed one gets.
    expect(await window.evaluate((w) => w.webContents.getURL())).toBe('app://sotto/');
  });

  test('says its content security policy, and serves nothing but its own files', async ({ sotto: { page } }) => {
    const answers = await page.evaluate(async () => {
      const own = await fetch('/');
      const status = async (address: string) => (await fetch(address)).status;
      return {
        policy: own.headers.get('content-security-policy'),
        devices: own.headers.get('permissions-policy'),
        sniff: own.headers.get('x-content-type-options'),
        missing: await status('/nothing.js'),
        // A name from an address never reaches the disk.
        climbs: [await status('/..%2fmain%2findex.cjs'), await status('/../main/index.cjs'), await status('/%2e%2e/package.json')],
        posted: (await fetch('/', { method: 'POST', body: 'x' })).status,
      };
    });
    expect(answers.policy).toBe(
      "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; " +
        "media-src 'self' blob:; font-src 'self'; connect-src 'self'; frame-src preview:; object-src 'none'; base-uri 'none'; " +
        "form-action 'none'; frame-ancestors 'none'",
    );
    expect(answers.devices).toBe('camera=(), display-capture=(), geolocation=(), microphone=(self), midi=(), serial=(), usb=()');
    expect(answers).toMatchObject({ sniff: 'nosniff', missing: 404, climbs: [404, 404, 404], posted: 404 });
  });

  test('breaks none of its own rules while it is used', async ({ sotto: { page, said } }) => {
    await page.getByRole('textbox', { name: 'Message' }).fill('A draft');
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Chat', exact: true }).click();
    await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('A draft');
    expect(said.filter((line) => /^console (error|warning)|^page error|Content Security Policy/.test(line))).toEqual([]);
  });

  test('keeps a draft over a reload and over a crash of the page', async ({ sotto: { app, page, data } }) => {
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.fill('A draft that must stay');
    await expect.poll(() => rows(data, 'SELECT text FROM drafts').map((row) => row['text'])).toEqual(['A draft that must stay']);
    await page.reload();
    await expect(box).toHaveValue('A draft that must stay');
    const window = await app.browserWindow(page);
    await window.evaluate((w) => w.webContents.forcefullyCrashRenderer());
    // Playwright's own page object does not come back from a crash; and a script sent to a dead page never answers.
    const value = () =>
      window.evaluate((w) =>
        Promise.race([
          w.webContents.executeJavaScript("document.querySelector('textarea')?.value") as Promise<string>,
          new Promise<string>((resolve) => setTimeout(() => resolve('no answer'), 500)),
        ]),
      );
    await expect.poll(value).toBe('A draft that must stay');
  });

  test('opens again where it was', async ({ open, data }) => {
    const first = await open(data);
    const window = await first.app.browserWindow(first.page);
    await window.evaluate((w) => w.setBounds({ x: 40, y: 50, width: 900, height: 640 }));
    await expect.poll(() => window.evaluate((w) => w.getBounds().width)).toBe(900);
    await first.quit();
    const second = await open(data);
    const again = await second.app.browserWindow(second.page);
    expect(await again.evaluate((w) => w.getBounds())).toEqual({ x: 40, y: 50, width: 900, height: 640 });
  });
});
