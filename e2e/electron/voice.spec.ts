import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { join, noise, resample, wav } from '../../test/helpers/audio.ts';
import { test as base, expect, proves } from '../helpers/test.ts';
import { soundFiles, tapSound, voice, wordErrorRate } from '../helpers/voice.ts';
import { engineKilled, nextTryWorks, tapAndEscape } from '../helpers/voiceFaults.ts';
import { askAloud, interrupt, newest, type Press, threeQuestions } from '../helpers/voiceFlows.ts';
import { muted } from '../helpers/voiceQuiet.ts';
import { questions, type VoiceWorld, voiceData, voiceWorld } from '../helpers/voiceTest.ts';

const test = base.extend<{ press: Press }, { world: VoiceWorld }>({
  world: [({}, use) => voiceWorld(use), { scope: 'worker', timeout: 240_000 }],
  data: ({ world }, use, info) => voiceData(world, use, info),
  sotto: async ({ open, data }, use) => {
    const sotto = await open(data);
    await tapSound(sotto.page);
    await sotto.page.reload();
    await use(sotto);
  },
  /** Ctrl Alt Space. */
  press: ({ sotto: { page } }, use) => use({ down: voice(page).holdChord, up: voice(page).releaseChord }),
});

test('three spoken questions are understood, answered and said aloud; a press into an answer silences it', async ({
  sotto: { page },
  press,
  data,
  world,
}) => {
  test.setTimeout(360_000);
  await threeQuestions(page, press, data, world.said);
  await voice(page).arm();
  await interrupt(page, press, data, world.said);
});

test(
  'a tap stays on, Esc drops what was said, and a killed engine costs one turn at most',
  proves('UX-39'),
  async ({ sotto: { page, pid }, press, data, world: { said } }) => {
    test.setTimeout(480_000);
    const scene = { page, press, data, said };
    await voice(page).arm();
    await tapAndEscape(scene);
    await engineKilled(scene, pid);
    expect(await soundFiles(data)).toEqual([]);
  },
);

test(
  'hard mute closes the device, and holds over a restart until a person lifts it',
  proves('RB-55'),
  async ({ open, sotto, press, data, world: { said } }) => {
    test.setTimeout(360_000);
    await voice(sotto.page).arm();
    await askAloud(sotto.page, press, said.long);
    // While it speaks, too.
    await muted({ page: sotto.page, press, data, said });
    await sotto.quit();

    const again = await open(data);
    await tapSound(again.page);
    await again.page.reload();
    const v = voice(again.page);
    await expect(v.bar.getByText('Off')).toBeVisible();
    await v.turnOn.first().click();
    await expect(v.bar.getByText('The microphone is muted.')).toBeVisible({ timeout: 60_000 });
    expect(await v.microphone.opened()).toBe(0);
    expect(await v.sent()).toBe(0);
    await v.bar.getByRole('button', { name: 'Unmute' }).click();
    if (await v.turnOn.first().isVisible()) await v.turnOn.first().click();
    await v.ready();
    const hold = { down: v.holdChord, up: v.releaseChord };
    await nextTryWorks({ page: again.page, press: hold, data, said });
  },
);

test("main opens the microphone, and the browser's own device is heard", proves('VO-06'), async ({ open, data, world: { said } }) => {
  test.setTimeout(300_000);
  const folder = await mkdtemp(path.join(tmpdir(), 'sotto-microphone-'));
  const file = path.join(folder, 'microphone.wav');
  const hiss = (ms: number) => noise(-62, ms, 48_000);
  const question = resample(said.japan.pcm, said.japan.rateHz, 48_000);
  // Each opening plays the file from its start: first a quiet room, then the question.
  await writeFile(file, wav(hiss(60_000), 48_000));
  const sotto = await open(data, {}, undefined, [
    '--use-fake-device-for-media-stream',
    `--use-file-for-fake-audio-capture=${file}`,
    '--autoplay-policy=no-user-gesture-required',
  ]);
  const { page } = sotto;
  // Until the runtime asked main for it, no script of the page gets it.
  const own = () =>
    page.evaluate(() =>
      navigator.mediaDevices.getUserMedia({ audio: true }).then(
        () => 'opened',
        (error: unknown) => (error instanceof DOMException ? error.name : 'other'),
      ),
    );
  expect(await own()).toBe('NotAllowedError');
  const v = voice(page);
  await v.arm();
  await v.turnOff.click();
  await v.word('off');
  await expect.poll(own).toBe('NotAllowedError');

  await writeFile(file, wav(join(hiss(6_000), question, hiss(60_000)), 48_000));
  await v.arm();
  await v.holdChord();
  await expect(v.own).toContainText('Japan', { timeout: 60_000 });
  await v.releaseChord();
  await v.word('speaking', 90_000);
  await v.word('ready', 90_000);
  expect(wordErrorRate(questions.japan, newest(data, 'user'))).toBeLessThanOrEqual(0.25);
  expect(newest(data, 'assistant')).toContain('Tokyo');
  await rm(folder, { recursive: true, force: true });
});
