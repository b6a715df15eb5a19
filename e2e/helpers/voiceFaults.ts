import { expect, type Page } from '@playwright/test';
import { silence } from '../../test/helpers/audio.ts';
import { chat } from './chat.ts';
import { messages } from './database.ts';
import { descendants, isAlive } from './processes.ts';
import { voice } from './voice.ts';
import { askAloud, newest, type Press } from './voiceFlows.ts';
import type { Said } from './voiceTest.ts';

// What goes wrong with voice, in the window and in the served page alike: each has words that a person can act on, and the next try works.

export type FaultScene = { readonly page: Page; readonly press: Press; readonly data: string; readonly said: Said };

export const speechEngine = (root: number): number | null =>
  descendants(root).find(({ command }) => /main\/engine\.cjs\b.*\bspeech\b/.test(command))?.pid ?? null;

const asked = (data: string) => messages(data).filter(({ role }) => role === 'user').length;

/** The whole way once more: what was wrong before must not matter any longer. */
export async function nextTryWorks({ page, press, data, said }: FaultScene): Promise<void> {
  const v = voice(page);
  const before = asked(data);
  await askAloud(page, press, said.japan);
  await v.word('ready', 90_000);
  expect(asked(data)).toBe(before + 1);
  expect(newest(data, 'user')).toMatch(/Japan/);
}

/** A tap stays on until a pause; Esc drops what was said, and nothing is sent. */
export async function tapAndEscape({ page, press, data, said }: FaultScene): Promise<void> {
  const v = voice(page);
  const before = asked(data);
  await press.down();
  await v.word('listening');
  await v.microphone.say(said.sun);
  await page.keyboard.press('Escape');
  await press.up();
  await v.word('ready');
  expect(asked(data)).toBe(before);

  await press.down();
  await press.up();
  await expect(v.bar.getByText('Pause or tap again when you are done.')).toBeVisible();
  await v.microphone.say(said.sun);
  await v.word('speaking', 90_000);
  await v.word('ready', 90_000);
  expect(asked(data)).toBe(before + 1);
  await expect(chat(page).questions.last()).toContainText('sun');
}

/** A quiet room and a switch that is off: no words are made up, and each is told from the other. */
export async function nothingArrives(scene: FaultScene): Promise<void> {
  const { page, press, data } = scene;
  const v = voice(page);
  const before = asked(data);
  await press.down();
  await v.word('listening');
  await v.microphone.say({ pcm: silence(1_500), rateHz: 16_000 });
  await press.up();
  await expect(v.bar.getByText(/I heard nothing\. Microphone under test, −\d+ dB\./)).toBeVisible();
  await v.word('ready');

  await v.microphone.room(0);
  await press.down();
  await expect(v.bar.getByText('No sound came from Microphone under test.')).toBeVisible({ timeout: 30_000 });
  await press.up();
  await v.word('ready');
  await expect(v.bar.getByRole('button', { name: 'Choose another microphone' })).toBeVisible();
  expect(asked(data)).toBe(before);
  await v.microphone.room(0.0005);
  await nextTryWorks(scene);
}

/** Far too loud: the converter cuts the tops off. Words or none, but never an end of it all. */
export async function clippedSound(scene: FaultScene): Promise<void> {
  const { page, press, said } = scene;
  const v = voice(page);
  await press.down();
  await v.word('listening');
  await v.microphone.say(said.japan, 60);
  await press.up();
  await v.word(/speaking|ready/, 90_000);
  await v.word('ready', 90_000);
}

/** The plug is pulled in the middle of a sentence: what was heard counts, one notice, and another microphone is taken at once. */
export async function unplugged(scene: FaultScene): Promise<void> {
  const { page, press, data, said } = scene;
  const v = voice(page);
  const before = asked(data);
  await press.down();
  await v.word('listening');
  await v.microphone.say(said.sun);
  await v.microphone.unplug('Second microphone');
  await expect(v.bar.getByText('The microphone changed. Sotto now listens to Second microphone.')).toBeVisible();
  await press.up();
  await expect.poll(() => asked(data), { timeout: 60_000 }).toBe(before + 1);
  expect(newest(data, 'user')).toMatch(/sun/i);
  await v.word('ready', 90_000);
  await nextTryWorks(scene);

  // None is left: three tries, then a fault with one button.
  await v.microphone.unplug(null);
  await v.word('trouble', 60_000);
  await expect(v.bar.getByRole('alert')).toContainText('The microphone is gone.');
  await v.microphone.answers('opens');
  await v.bar.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
  await v.ready();
}

/** No permission, no microphone, one that another program holds: each by its name, before anything is recorded. */
export async function notOpened({ page }: Pick<FaultScene, 'page'>): Promise<void> {
  const v = voice(page);
  const again = v.bar.getByRole('alert').getByRole('button', { name: 'Try again' });
  await v.microphone.answers('denied');
  await v.turnOn.first().click();
  await v.word('trouble', 60_000);
  await expect(v.bar.getByRole('alert')).toContainText('Sotto may not use the microphone.');
  await v.microphone.answers('missing');
  await again.click();
  await expect(v.bar.getByRole('alert')).toContainText('There is no microphone.', { timeout: 60_000 });
  await v.microphone.answers('unreadable');
  await again.click();
  await expect(v.bar.getByRole('alert')).toContainText('No sound can be read from', { timeout: 60_000 });
  await v.microphone.answers('opens');
  await again.click();
  await v.ready();
}

/** The engine that listens and speaks is killed while it listens, then while it speaks. */
export async function engineKilled(scene: FaultScene, root: number): Promise<void> {
  const { page, press, data, said } = scene;
  const v = voice(page);
  const before = asked(data);
  /** Until another one runs in its place. */
  const kill = async () => {
    const pid = speechEngine(root);
    if (pid === null) throw new Error('no speech engine runs');
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
    await expect.poll(() => speechEngine(root), { timeout: 30_000 }).not.toBeNull();
  };
  await press.down();
  await v.word('listening');
  await v.microphone.say(said.sun);
  await kill();
  await expect(v.bar.getByText(/The model stopped while/)).toBeVisible();
  await press.up();
  await v.ready();
  expect(asked(data)).toBe(before);
  await nextTryWorks(scene);

  await askAloud(page, press, said.long);
  await kill();
  await expect(v.bar.getByText(/The model stopped while/)).toBeVisible({ timeout: 60_000 });
  // What was sent is answered all the same, as text.
  await page.keyboard.press('Escape');
  await v.ready();
  expect(asked(data)).toBe(before + 2);
  await nextTryWorks(scene);
}

/** The last loudspeaker is gone: what is said stands there as text. */
export async function noLoudspeaker(scene: FaultScene): Promise<void> {
  const { page, press, data, said } = scene;
  const v = voice(page);
  const before = asked(data);
  await v.outputs([]);
  await press.down();
  await v.word('listening');
  await v.microphone.say(said.sun);
  await press.up();
  await expect(v.bar.getByText('The loudspeaker is gone.')).toBeVisible({ timeout: 90_000 });
  await v.word('ready', 90_000);
  expect(asked(data)).toBe(before + 1);
  await expect(chat(page).answers.last()).toContainText(newest(data, 'assistant'));
  await v.outputs(['Speaker under test']);
  await nextTryWorks(scene);
}
