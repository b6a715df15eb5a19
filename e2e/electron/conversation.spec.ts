import { chat, growing } from '../helpers/chat.ts';
import { checkIntegrity, messages, rows } from '../helpers/database.ts';
import { partsOf } from '../helpers/processes.ts';
import { expect, proves, test } from '../helpers/test.ts';

test.use({ withModel: true });

const meeting = 'Context: The meeting with Dana is on Thursday at 15:30 in room 4B. Bring the printed budget.';
const order = 'Context: Order 8812 was shipped on 3 May by train. It contains two lamps and a chair.';
const cat = 'Context: The cat of Mr. Holm is called Pixel. She is seven years old and lives in Oslo.';

/** Questions that the starter model can answer, and the word that has to be read in its answer. */
const questions = [
  ['What is the capital of Japan?', 'Tokyo'],
  ['Repeat exactly: The quick brown fox.', 'The quick brown fox'],
  [`${meeting}\nQuestion: In which room is the meeting?`, '4B'],
  [`${meeting}\nQuestion: On which day is the meeting with Dana?`, 'Thursday'],
  [`${order}\nQuestion: How was order 8812 shipped?`, 'train'],
  [`${order}\nQuestion: What does the order contain?`, 'two lamps'],
  [`${cat}\nQuestion: What is the name of the cat?`, 'Pixel'],
  [`${cat}\nQuestion: In which city does the cat live?`, 'Oslo'],
] as const;

/** The product samples, so that a good answer may take another try; a model that is not there never gives it. */
const tries = 8;

/** Runs for half a minute or more. */
const longQuestion = 'Write a very long story about a lighthouse keeper and a storm. Do not stop before ten paragraphs.';

test('answers with the model on this machine', async ({ sotto: { page } }) => {
  test.setTimeout(240_000);
  const c = chat(page);
  await c.ready();
  for (const [question, word] of questions) {
    await test.step(word, async () => {
      await c.newChat();
      await c.send(question);
      let said = await c.answer();
      for (let left = tries - 1; left > 0 && !said.includes(word); left--) {
        await c.answers.last().getByRole('button', { name: 'Try again' }).click();
        await expect(c.thread.locator('[aria-busy=true]')).toBeVisible();
        said = await c.answer();
      }
      expect(said, question).toContain(word);
    });
  }
});

test('stops in the middle of an answer and keeps what was said', async ({ sotto: { page, data } }) => {
  const c = chat(page);
  await c.ready();
  await c.send(longQuestion);
  const shown = await growing(c.growing, 60);
  await c.stop.click();
  await expect(c.growing).toBeHidden();
  const kept = await c.answer();
  expect(kept.startsWith(shown.slice(0, 40))).toBe(true);
  expect(messages(data).map(({ role, interrupted }) => [role, interrupted])).toEqual([
    ['user', false],
    ['assistant', true],
  ]);
  // The next question is answered: a stopped answer leaves nothing behind in the engine.
  await c.send('What is the capital of Japan?');
  await expect(c.answers).toHaveCount(2);
  expect((await c.answer()).length).toBeGreaterThan(0);
});

test('an engine that is killed costs one answer, not the words that were shown', async ({ sotto: { page, pid, data } }) => {
  const c = chat(page);
  await c.ready();
  await c.send(longQuestion);
  const shown = await growing(c.growing, 60);
  const { engines, runtime } = partsOf(pid);
  expect(engines).toHaveLength(1);
  process.kill(engines[0] ?? 0, 'SIGKILL');
  await expect(page.getByRole('alert').or(c.thread.getByRole('group'))).not.toHaveCount(0);
  await expect(c.growing).toBeHidden();
  expect(await c.thread.innerText()).toContain(shown.slice(0, 40));
  expect(partsOf(pid).runtime).toBe(runtime);
  // It answers again, with a new engine.
  await c.newChat();
  await c.send('What is the capital of Japan?');
  expect((await c.answer()).length).toBeGreaterThan(0);
  expect(partsOf(pid).engines).not.toEqual(engines);
  checkIntegrity(data);
});

test('a runtime that is killed comes back, and nothing that was said is lost', proves('UX-02'), async ({ sotto: { page, pid, data } }) => {
  const c = chat(page);
  await c.ready();
  await c.send('What is the capital of Japan?');
  const first = await c.answer();
  await c.send(longQuestion);
  await growing(c.growing, 60);
  await c.composer.fill('a draft beside it');
  await expect.poll(() => rows(data, 'SELECT text FROM drafts').map((row) => row['text'])).toContain('a draft beside it');
  const { runtime } = partsOf(pid);
  process.kill(runtime ?? 0, 'SIGKILL');

  await expect.poll(() => partsOf(pid).runtime, { timeout: 30_000 }).not.toBe(runtime);
  await expect.poll(() => partsOf(pid).runtime).not.toBeNull();
  // The page finds its way by itself: the same chat, the same words, the draft, and the open question goes on or asks.
  await expect(c.questions).toHaveCount(2);
  await expect(c.answers.first()).toContainText(first.split('\n')[0] ?? '');
  await expect(c.composer).toHaveValue('a draft beside it');
  await expect(c.stop.or(page.getByRole('button', { name: 'Go on' })).first()).toBeVisible();
  expect(
    messages(data)
      .filter(({ role }) => role === 'user')
      .map(({ text }) => text),
  ).toEqual(['What is the capital of Japan?', longQuestion]);
  checkIntegrity(data);
});

test('a restart finds the conversation again', proves('UX-02'), async ({ open, data }) => {
  const first = await open(data);
  const before = chat(first.page);
  await before.ready();
  await before.send('What is the capital of Japan?');
  const said = await before.answer();
  await before.composer.fill('not sent yet');
  await first.quit();

  const second = await open(data);
  const after = chat(second.page);
  await expect(after.questions.or(second.page.getByRole('list', { name: 'Chats' }).getByRole('button').first())).not.toHaveCount(0);
  await second.page.getByRole('searchbox', { name: 'Search chats' }).fill('capital');
  await expect(second.page.getByText('capital', { exact: false }).first()).toBeVisible();
  await second.page.getByRole('searchbox', { name: 'Search chats' }).fill('');
  await after.openChat(/./);
  await expect(after.questions).toHaveCount(1);
  await expect(after.answers.first()).toContainText(said.split('\n')[0] ?? '');
  await expect(after.composer).toHaveValue('not sent yet');
});

test('the whole app can be killed in the middle of an answer', proves('UX-02'), async ({ open, data }) => {
  const first = await open(data);
  const before = chat(first.page);
  await before.ready();
  await before.send(longQuestion);
  await growing(before.growing, 60);
  await first.killMain();
  checkIntegrity(data);
  expect(messages(data)[0]).toMatchObject({ role: 'user', text: longQuestion });

  const second = await open(data);
  const after = chat(second.page);
  await after.openChat(/./);
  await expect(after.questions).toHaveCount(1);
  await expect(after.stop.or(second.page.getByRole('button', { name: 'Go on' })).first()).toBeVisible();
});
