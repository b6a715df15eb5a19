import { expect, type Page, test } from '@playwright/test';
import { chat } from './chat.ts';
import { messages } from './database.ts';
import { transcribeOutside, voice, wordErrorRate } from './voice.ts';
import { questions, type Said } from './voiceTest.ts';

// What a person does with voice, in the window and in the served page alike. How a press is made is the caller's.

export type Press = { down(): Promise<void>; up(): Promise<void> };

/** The newest message of a role, as it is stored. */
export const newest = (data: string, role: 'user' | 'assistant'): string =>
  messages(data).findLast((message) => message.role === role)?.text ?? '';

/** Asks by holding the key, and waits until the answer is being said. */
export async function askAloud(page: Page, press: Press, said: Said[keyof Said]): Promise<void> {
  const v = voice(page);
  await press.down();
  await v.word('listening');
  await v.microphone.say(said);
  await press.up();
  await v.word('speaking', 90_000);
}

/**
 * Three questions, each understood (WER ≤ 0.25), answered with a sentence, and said aloud so that an engine outside the app understands it
 * (WER ≤ 0.35); where the time went is shown; all of it stands in the chat after the page was loaded anew.
 */
export async function threeQuestions(page: Page, press: Press, data: string, said: Said): Promise<void> {
  const v = voice(page);
  const talk = chat(page);
  await v.arm();
  const answers: string[] = [];
  for (const name of ['japan', 'sun', 'week'] as const) {
    await test.step(questions[name], async () => {
      const before = await v.sink.here();
      await askAloud(page, press, said[name]);
      await v.word('ready');
      const asked = newest(data, 'user');
      const answer = newest(data, 'assistant');
      expect(wordErrorRate(questions[name], asked), asked).toBeLessThanOrEqual(0.25);
      expect(answer.split(' ').length, answer).toBeGreaterThanOrEqual(5);
      await expect(talk.questions.last()).toContainText(asked);
      await expect(talk.answers.last()).toContainText(answer);
      const heard = await transcribeOutside(await v.sink.since(before));
      expect(wordErrorRate(answer, heard), `${answer} / ${heard}`).toBeLessThanOrEqual(0.35);
      await expect(v.latency).toBeVisible();
      answers.push(answer);
    });
  }
  await v.latency.click();
  await expect(page.getByRole('table', { name: 'Time from your last word to the first sound' })).toBeVisible();
  await page.reload();
  await talk.openChat(/./);
  await expect(talk.answers).toHaveCount(3);
  for (const [i, answer] of answers.entries()) await expect(talk.answers.nth(i)).toContainText(answer);
}

/** A press into an answer: silence within 300 ms of the loudspeaker's own clock, and it lasts; what was not heard is grey from then on. */
export async function interrupt(page: Page, press: Press, data: string, said: Said): Promise<void> {
  const v = voice(page);
  const talk = chat(page);
  await askAloud(page, press, said.long);
  const began = await v.sink.here();
  // So much of it that it was surely heard in part.
  await v.sink.passed(began, 3_000);
  await press.down();
  const pressed = await v.sink.lastPress();
  await v.word('listening');
  await v.sink.passed(pressed, 2_500);
  expect(await v.sink.lastSoundAfter({ ...began })).toBeGreaterThan(0);
  expect(await v.sink.lastSoundAfter(pressed)).toBeLessThanOrEqual(300);
  await page.keyboard.press('Escape');
  await press.up();
  await v.word('ready');
  await expect.poll(() => messages(data).findLast(({ role }) => role === 'assistant')?.interrupted).toBe(true);
  await expect(talk.answers.last().getByText('What is grey was not heard.')).toBeVisible();
}
