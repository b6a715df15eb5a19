import type { Page } from '@playwright/test';
import { chat } from '../helpers/chat.ts';
import { checkIntegrity, messages } from '../helpers/database.ts';
import { isAlive } from '../helpers/processes.ts';
import { expect, signIn, test } from './serving.ts';

test.use({ withModel: true });

/** Of the fixed questions: words that hold over machines and seeds. */
const questions = [
  ['What colour is the sky on a clear day?', /blue/i],
  ['What is the capital of Japan?', /Tokyo/],
  [
    'Context: Order 8812 was shipped on 3 May by train. It contains two lamps and a chair.\nQuestion: How was order 8812 shipped?',
    /train/i,
  ],
] as const;

/** Waits until words of the answer itself stand there, not only what the model is doing. */
async function writing(page: Page): Promise<void> {
  await expect(page.locator('article[aria-busy="true"]').filter({ hasText: /\b1\D+2\D+3\b/ })).toBeVisible({ timeout: 60_000 });
}

/** Runs for a minute and more. */
const longQuestion = 'Write all numbers from 1 to 300, one on each line.';

test('the page asks the real model and shows its words as they come', async ({ page, server, data }) => {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  await signIn(page, server);
  // The form's own 401 is no fault of the page.
  faults.length = 0;
  const talk = chat(page);
  await talk.ready();
  for (const [question, word] of questions) {
    await talk.newChat();
    await talk.send(question);
    expect(await talk.answer()).toMatch(word);
  }
  expect(faults).toEqual([]);
  expect(messages(data).filter(({ role }) => role === 'assistant')).toHaveLength(questions.length);
});

test('an answer can be stopped in the middle, and what was written stays', async ({ page, server, data }) => {
  await signIn(page, server);
  const talk = chat(page);
  await talk.send(longQuestion);
  await writing(page);
  await talk.stop.click();
  await expect(page.getByText('You stopped this answer.')).toBeVisible();
  const answer = await talk.answer();
  expect(answer.length).toBeGreaterThan(10);
  await expect
    .poll(() => messages(data).map(({ role, interrupted }) => [role, interrupted]))
    .toEqual([
      ['user', false],
      ['assistant', true],
    ]);
});

test('an engine that is killed while it writes costs one answer, not the conversation', async ({ page, server, data }) => {
  await signIn(page, server);
  const talk = chat(page);
  await talk.send(longQuestion);
  await writing(page);
  const engines = server.engines();
  expect(engines).toHaveLength(1);
  for (const engine of engines) process.kill(engine, 'SIGKILL');
  await expect(talk.questions).toHaveCount(1);
  await expect(talk.composer).toBeEnabled();
  // It ends one way or the other: tried once more from the log, or with a card that says what happened.
  await expect.poll(() => engines.some(isAlive)).toBe(false);
  // Esc stops what runs, and does nothing when it has just ended.
  await talk.composer.press('Escape');
  await talk.newChat();
  await talk.send('What is the capital of Japan?');
  expect(await talk.answer()).toMatch(/Tokyo/);
  expect(messages(data).filter(({ role }) => role === 'user')).toHaveLength(2);
});

test('a server that is killed while it answers loses nothing: the page comes back with the conversation', async ({ page, serve, data }) => {
  const first = await serve();
  await signIn(page, first);
  const talk = chat(page);
  await talk.send('What is the capital of Japan?');
  expect(await talk.answer()).toMatch(/Tokyo/);
  await talk.send(longQuestion);
  await writing(page);
  const engines = first.engines();
  await first.kill();
  await expect(page.getByText('The connection to Sotto is lost.', { exact: true })).toBeVisible();
  // What is typed meanwhile is kept.
  await talk.composer.fill('typed while nobody was there');
  await expect.poll(() => engines.some(isAlive)).toBe(false);
  checkIntegrity(data);
  const second = await serve(Number(new URL(first.url).port));
  expect(second.url).toBe(first.url);
  await expect(page.getByText('The connection to Sotto is lost.', { exact: true })).toBeHidden({ timeout: 60_000 });
  await expect(talk.questions).toHaveCount(2);
  await expect(talk.thread).toContainText('Tokyo');
  // So young a turn goes on by itself (RE-03) and is answered anew.
  expect(await talk.answer()).toMatch(/\d/);
  await expect(talk.answers).toHaveCount(2);
  await expect(talk.composer).toHaveValue('typed while nobody was there');
  expect(
    messages(data)
      .filter(({ role }) => role === 'user')
      .map(({ text }) => text),
  ).toEqual(['What is the capital of Japan?', longQuestion]);
});

test('after a restart the conversation is found, by list and by search', async ({ page, serve }) => {
  const first = await serve();
  await signIn(page, first);
  const talk = chat(page);
  await talk.send('Hello! My bicycle is called Pixel.');
  await talk.answer();
  expect(await first.stop()).toBe(0);
  const second = await serve();
  await page.goto('about:blank');
  await signIn(page, second);
  await page.getByRole('searchbox', { name: 'Search chats' }).fill('Pixel');
  await page.getByRole('button', { name: /Hello! My bicycle is called Pixel/ }).click();
  await expect(talk.questions).toContainText(['Pixel']);
});
