import { expect } from '@playwright/test';
import { chirp, find, noise, silence, tone } from '../../test/helpers/audio.ts';
import { music } from '../../test/helpers/recordings.ts';
import { messages } from './database.ts';
import { voice } from './voice.ts';
import type { FaultScene } from './voiceFaults.ts';

// What must not be heard, and what must not be lost.

/** `npm run test:long` sets it: everything as long as the requirement says. */
const isLong = process.env['SOTTO_LONG'] === '1';
const seconds = isLong ? 60 : 4;
const presses = isLong ? 100 : 14;

const asked = (data: string) => messages(data).filter(({ role }) => role === 'user').length;

/** Silence, noise and music, held and latched: no words, no turn. */
export async function nothingIsMadeUp({ page, press, data }: FaultScene): Promise<void> {
  const v = voice(page);
  const before = asked(data);
  const sounds = {
    silence: silence(seconds * 1_000),
    noise: noise(-30, seconds * 1_000),
    music: music(seconds * 1_000).map((x) => x * 0.5),
  };
  for (const [name, pcm] of Object.entries(sounds)) {
    await press.down();
    await v.word('listening');
    await v.microphone.say({ pcm, rateHz: 16_000 });
    await press.up();
    await v.word('ready', 90_000);
    expect(asked(data), name).toBe(before);
  }
}

/** Hard mute: the device is closed, not one frame leaves the page, and it stays so until a person lifts it. */
export async function muted({ page, press, data }: FaultScene): Promise<void> {
  const v = voice(page);
  const before = asked(data);
  await v.bar.getByRole('button', { name: 'Mute', exact: true }).click();
  await expect(v.bar).toContainText(/muted/i);
  await expect.poll(v.microphone.live).toBe(0);
  const sent = await v.sent();
  const opened = await v.microphone.opened();
  const hum = { pcm: tone(440, seconds * 500), rateHz: 16_000 };
  await v.microphone.say(hum);
  // A press, and another device, open nothing.
  await press.down();
  await v.microphone.unplug('Second microphone');
  await v.microphone.say(hum);
  await press.up();
  await expect(v.bar).toContainText(/muted/i);
  expect(await v.sent()).toBe(sent);
  expect(await v.microphone.opened()).toBe(opened);
  expect(asked(data)).toBe(before);
}

/** Presses with a sound that begins up to 300 ms before or after: its beginning is there each time. */
export async function firstWordsStay({ page }: FaultScene): Promise<void> {
  const v = voice(page);
  const sound = chirp(300, 3_000, 400, 16_000, 0.5);
  const beginning = sound.subarray(0, 1_600);
  let covered = 0;
  for (let i = 0; i < presses; i += 1) {
    const offset = Math.round(-300 + (600 * i) / (presses - 1));
    const { beganMs, pcm } = await v.microphone.pressOver({ pcm: sound, rateHz: 16_000 }, offset, 900);
    await v.word('ready');
    // A busy machine presses late: what lies before the pre-roll nobody promised.
    if (beganMs < -380) continue;
    covered += 1;
    expect(find(beginning, pcm).likeness, `press ${i}, sound ${Math.round(beganMs)} ms after it`).toBeGreaterThan(0.9);
  }
  expect(covered).toBeGreaterThan(presses * 0.7);
}
