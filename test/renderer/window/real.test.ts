// @vitest-environment node
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClock } from '../../../src/runtime/platform/clock.ts';
import { createScriptedModel, gate } from '../../helpers/scriptedLanguageModel.ts';
import { createTestRuntime } from '../../helpers/testRuntime.ts';
import { verifies } from '../../helpers/verifies.ts';
import { launchBrowser } from '../browser.ts';
import { buildPage } from '../buildPage.ts';
import { servePage } from '../pageServer.ts';

// The real page over the real runtime with a real database: what the in-memory runtime of the other page tests promises is so.

let folder: string;
let pageDir: string;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'sotto-page-'));
  [pageDir, browser] = await Promise.all([buildPage(path.join(folder, 'page')), launchBrowser()]);
}, 120_000);

afterAll(async () => {
  await browser.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function visit(url: string): Promise<Page> {
  const page = await browser.newPage({ reducedMotion: 'reduce', locale: 'en-GB' });
  page.setDefaultTimeout(20_000);
  await page.goto(url);
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  return page;
}

it('a conversation: ask, watch it grow, reload in the middle, stop, try again, find it, put it away and back', {
  timeout: 90_000,
}, async () => {
  verifies('UX-01', 'UX-02', 'UX-03', 'UX-08', 'UX-28', 'UX-29');
  const [half, rest] = [gate(), gate()];
  const model = createScriptedModel(
    [
      [{ say: 'The first half of it' }, { gate: half }, { say: ' and **the second**.' }, { gate: rest }, { say: ' Never said.' }],
      [{ say: 'Another answer about zeppelins.' }],
    ],
    { clock: createClock() },
  );
  await using runtime = await createTestRuntime({ models: model });
  await runtime.client.settings.set({ firstRun: 'done' });
  await using server = await servePage(runtime.runtime.router, pageDir);
  const page = await visit(server.url);
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('Tell me in two halves');
  await field.press('Enter');
  await page.getByText('The first half of it').waitFor();
  expect(await field.inputValue()).toBe('');
  expect(await page.locator('[aria-busy="true"]').count()).toBe(1);

  // A page that comes anew in the middle of it knows all of it.
  await page.reload();
  await page.getByRole('list', { name: 'Chats' }).getByRole('button').first().click();
  await page.getByText('The first half of it').waitFor();
  half.open();
  await page.getByText('the second').waitFor();
  expect(await page.getByText('the second').evaluate((e) => e.tagName)).toBe('STRONG');

  // The connection dies while it grows: nothing is lost and nothing doubled.
  server.dropAll();
  await field.fill('typed meanwhile');
  await page.getByText('ready').or(page.getByText('Connection lost')).first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('You stopped this answer.').waitFor();
  expect(await page.getByText('The first half of it').count()).toBe(1);
  expect(await field.inputValue()).toBe('typed meanwhile');
  rest.open();

  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Another answer about zeppelins.').waitFor();
  await page.getByRole('button', { name: '1 earlier answer' }).click();
  await page.getByText('The first half of it').waitFor();

  await page.getByRole('searchbox', { name: 'Search chats' }).fill('zeppelins');
  await page
    .locator('mark')
    .filter({ hasText: /zeppelins/i })
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Clear the search' }).click();

  await page.getByRole('list', { name: 'Chats' }).getByRole('button').first().focus();
  await page.keyboard.press('Delete');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('list', { name: 'Chats' }).getByRole('button').first().waitFor();

  // The draft of that chat outlives page and window.
  await page.getByRole('list', { name: 'Chats' }).getByRole('button').first().click();
  await page.reload();
  await page.getByRole('list', { name: 'Chats' }).getByRole('button').first().click();
  await expect.poll(() => field.inputValue()).toBe('typed meanwhile');
  await page.close();
});

it('a fault of the model and one of the input are told with their figures', { timeout: 60_000 }, async () => {
  verifies('UX-06', 'UX-101');
  const model = createScriptedModel([{ say: 'ok' }], { contextSize: 256 });
  await using runtime = await createTestRuntime({ models: model });
  await runtime.client.settings.set({ firstRun: 'done' });
  await using server = await servePage(runtime.runtime.router, pageDir);
  const page = await visit(server.url);
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('word '.repeat(4000));
  await field.press('Enter');
  await page.getByText(/This message needs [\d,]+ tokens; the model holds 256\./).waitFor();
  await page.getByRole('button', { name: 'Go to the message' }).click();
  expect((await field.inputValue()).length).toBeGreaterThan(19_000);
  await page.close();
});

it('without a model the way to one is shown, and settings outlive the page', { timeout: 60_000 }, async () => {
  verifies('UX-01', 'UX-94');
  await using runtime = await createTestRuntime({ models: null });
  await runtime.client.settings.set({ firstRun: 'done' });
  await using server = await servePage(runtime.runtime.router, pageDir);
  const page = await visit(server.url);
  await page.keyboard.press('Control+,');
  await page.getByText('Dark', { exact: true }).click();
  await page.waitForFunction(() => document.documentElement.dataset['theme'] === 'dark');
  await page.reload();
  await page.waitForFunction(() => document.documentElement.dataset['theme'] === 'dark');
  await page.close();
});
