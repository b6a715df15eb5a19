import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { rows } from '../helpers/database.ts';
import { firstRun } from '../helpers/firstRun.ts';
import { proves } from '../helpers/test.ts';
import { test as base, expect, type Server, typeCode } from './serving.ts';

// A microphone that beeps, which the browser gives without asking.
const test = base.extend({
  launchOptions: [
    async ({ launchOptions }, use) =>
      use({
        ...launchOptions,
        args: [...(launchOptions.args ?? []), '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
      }),
    { scope: 'worker' },
  ],
});

async function open(page: Page, server: Server): Promise<void> {
  await page.goto(server.url);
  await typeCode(page, server.code);
}

const settingsOf = (data: string) =>
  Object.fromEntries(rows(data, 'SELECT name, value FROM settings').map(({ name, value }) => [name, JSON.parse(String(value)) as unknown]));

async function isClean(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`)).toEqual([]);
  }
}

test.describe('the first steps on a machine that never saw Sotto', () => {
  test.use({ firstRun: true });

  test('by the keyboard alone from Privacy to the chat, and axe finds nothing on any step', async ({ page, server, data }) => {
    const first = firstRun(page);
    await open(page, server);
    await first.at('privacy');
    await isClean(page);
    await first.byKeyboard('Search the public model hub?', 'Space');
    await expect.poll(() => settingsOf(data)).toMatchObject({ searchHub: true });
    await first.byKeyboard('Go on');

    await first.at('microphone');
    await isClean(page);
    await first.byKeyboard('Turn on the microphone');
    await expect(page.getByRole('meter').first()).toBeVisible();
    await first.byKeyboard('Record');
    await first.byKeyboard('Stop');
    await expect(page.getByText('Room noise')).toBeVisible();
    await isClean(page);
    await page.keyboard.down('Control');
    await page.keyboard.down('Alt');
    await page.keyboard.down('Space');
    await expect(page.getByText('Held. Let it go when you have spoken.')).toBeVisible();
    for (const key of ['Space', 'Alt', 'Control']) await page.keyboard.up(key);
    await expect(page.getByText('The key works.')).toBeVisible();
    await first.byKeyboard('Go on');

    await first.at('machine');
    await expect(page.getByRole('button', { name: /^Get all, / })).toBeEnabled();
    await expect(page.getByRole('region', { name: 'Found here' })).toContainText(/of .* GB free/);
    await isClean(page);
    await first.byKeyboard('Skip this step');

    await expect(first.heading('Almost there')).toBeVisible();
    await isClean(page);
    await first.byKeyboard('Go to chat without it');
    await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
    await expect.poll(() => settingsOf(data)).toMatchObject({ firstRun: 'done', searchHub: true });
    // Nothing has asked anybody outside.
    expect(rows(data, 'SELECT * FROM ledger')).toEqual([]);
  });

  test('stand where they were left, over a reload and over a restart', proves('UX-17'), async ({ page, serve, data }) => {
    const first = firstRun(page);
    const server = await serve();
    await open(page, server);
    await first.at('privacy');
    await first.button('Go on').click();
    await first.at('microphone');
    await first.button('Type only').click();
    await first.at('machine');
    await page.reload();
    await first.at('machine');
    await server.stop();
    await serve(Number(new URL(server.url).port));
    await page.goto(server.url);
    await first.at('machine');
    await expect(page.getByRole('radio', { name: 'Type only' })).toBeChecked();
    await first.button('Back').click();
    await first.at('microphone');
    await expect.poll(() => settingsOf(data)).toMatchObject({ firstRun: 'microphone', typeOnly: true });
  });

  test('what is kept of the microphone test is the name of a device', async ({ page, server, data }) => {
    const first = firstRun(page);
    await open(page, server);
    await first.at('privacy');
    await first.button('Microphone').click();
    await first.button('Turn on the microphone').click();
    // It is chosen when that is stored, not when it is pressed.
    await page.getByRole('radio', { name: /Fake Audio Input 2/ }).click();
    await expect.poll(() => settingsOf(data)).toMatchObject({ microphone: 'Fake Audio Input 2' });
    await first.button('Record').click();
    await first.button('Stop').click();
    await first.button('Hear it').click();
    // To its end, through the loudspeaker of this machine, or told that there is none.
    await expect(first.button('Hear it')).toBeVisible();
    expect(rows(data, "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%audio%'")).toEqual([]);
  });
});

test.describe('who has been through them', () => {
  test('finds Models one press away, and can take the steps again', async ({ page, server }) => {
    await open(page, server);
    await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
    await page.keyboard.press('Control+5');
    await expect(page.getByRole('heading', { level: 1, name: 'Models' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Get 30 MB: Moonshine Tiny' })).toBeVisible();
    await isClean(page);
    await page.keyboard.press('Control+,');
    await page.getByRole('button', { name: 'Run the first steps again' }).click();
    await firstRun(page).at('privacy');
    await page.reload();
    await firstRun(page).at('privacy');
  });
});
