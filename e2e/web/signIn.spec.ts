import AxeBuilder from '@axe-core/playwright';
import { chat } from '../helpers/chat.ts';
import { rows } from '../helpers/database.ts';
import { expect, signIn, sotto, test, typeCode } from './serving.ts';

test.describe('the sign-in of the served page', () => {
  test('lets in with the code that was printed, and keeps the page signed in', {
    annotation: { type: 'verifies', description: 'SV-07 UX-283' },
  }, async ({ page, context, server }) => {
    await page.goto(server.url);
    await expect(page.getByRole('heading', { name: 'Sign in to Sotto' })).toBeVisible();
    await expect(page.getByText('sotto keys code')).toBeVisible();
    await expect(page.getByText('lasts 10 minutes')).toBeVisible();
    // By keyboard alone: the field has the focus.
    await expect(page.getByLabel('One-time code')).toBeFocused();
    await page.keyboard.type(server.code.toLowerCase());
    await page.keyboard.press('Enter');
    await expect(chat(page).composer).toBeVisible();
    expect(new URL(page.url()).pathname).toBe('/');
    await page.reload();
    await expect(chat(page).composer).toBeVisible();
    const [cookie, ...others] = await context.cookies();
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/', domain: '127.0.0.1' });
    expect(await page.evaluate(() => document.cookie)).toBe('');
  });

  test('says that a wrong code is wrong, and when the next try is allowed', {
    annotation: { type: 'verifies', description: 'UX-283' },
  }, async ({ page, server, data }) => {
    await page.goto(server.url);
    for (let i = 0; i < 5; i++) {
      await typeCode(page, `WRNG-000${i}`);
      await expect(page.getByRole('alert')).toHaveText('That code does not work.');
      await expect(page.getByLabel('One-time code')).toHaveAttribute('aria-invalid', 'true');
    }
    await typeCode(page, await sotto(data, 'keys', 'code'));
    await expect(page.getByRole('alert')).toHaveText(/^Too many tries\. The next one is allowed in \d+ seconds?, at \d\d:\d\d:\d\d\.$/);
  });

  test('is readable in light and dark, and to a screen reader', { annotation: { type: 'verifies', description: 'UX-283' } }, async ({
    page,
    server,
  }) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(server.url);
      expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
      await typeCode(page, 'WRNG-0000');
      await expect(page.getByRole('alert')).toBeVisible();
      expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    }
  });

  test('ends with its revocation: the page says so and leads back to the form', async ({ page, server, data }) => {
    await signIn(page, server);
    await chat(page).composer.fill('A draft that stays');
    await expect.poll(() => rows(data, 'SELECT text FROM drafts')).toEqual([{ text: 'A draft that stays' }]);
    const keys = (await sotto(data, 'keys', 'list', '--json')).split('\n').map((line) => JSON.parse(line));
    await sotto(data, 'keys', 'revoke', keys.find((key) => key.kind === 'page').id);
    await expect(page.getByText('This page is signed out.')).toBeVisible();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await typeCode(page, await sotto(data, 'keys', 'code'));
    await expect(chat(page).composer).toHaveValue('A draft that stays');
  });

  test('is missed by a page that comes back after it ended: it does not try for ever', async ({ page, serve, data }) => {
    const first = await serve();
    await signIn(page, first);
    await first.stop();
    await expect(page.getByText('The connection to Sotto is lost.', { exact: true })).toBeVisible();
    const keys = (await sotto(data, 'keys', 'list', '--json')).split('\n').map((line) => JSON.parse(line));
    await sotto(data, 'keys', 'revoke', keys.find((key) => key.kind === 'page').id);
    await serve(Number(new URL(first.url).port));
    await expect(page.getByText('This page is signed out.')).toBeVisible();
  });

  test('gives nothing to a page of another site', { annotation: { type: 'verifies', description: 'RB-09' } }, async ({
    page,
    context,
    server,
  }) => {
    await signIn(page, server);
    const port = new URL(server.url).port;
    const other = await context.newPage();
    // Another name of this machine is another site to the browser; our cookie and our answers stay out of its reach.
    await other.route('http://other.test/', (route) => route.fulfill({ contentType: 'text/html', body: '<h1>other</h1>' }));
    await other.goto('http://other.test/');
    const seen = await other.evaluate(async (base) => {
      const status = async (path: string, init: RequestInit) => {
        try {
          return (await fetch(`${base}${path}`, init)).status;
        } catch {
          return 'blocked';
        }
      };
      const socket = await new Promise((resolve) => {
        const opened = new WebSocket(`${base.replace('http', 'ws')}/rpc`);
        opened.onopen = () => resolve('open');
        opened.onerror = () => resolve('refused');
      });
      return {
        socket,
        read: await status('/ready', { credentials: 'include' }),
        post: await status('/rpc/server/createKey', {
          method: 'POST',
          credentials: 'include',
          body: '{"json":{"name":"evil"}}',
          mode: 'no-cors',
        }),
      };
    }, `http://127.0.0.1:${port}`);
    expect(seen.socket).toBe('refused');
    expect(seen.read).not.toBe(200);
    const names = await page.evaluate(async () => {
      const reply = await fetch('/rpc/server/keys', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"json":{}}',
      });
      return JSON.stringify(await reply.json());
    });
    expect(names).toContain('command line of this machine');
    expect(names).not.toContain('evil');
  });
});
