import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { noise, pieces, silence, tone } from '../../helpers/audio.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeRuntime } from '../fakeRuntime.ts';
import { createFakeSound } from '../fakeSound.ts';
import { act, fireEvent, openPage, screen, within } from '../page.tsx';

async function microphone(prepare: (sound: ReturnType<typeof createFakeSound>) => void = () => {}) {
  const runtime = createFakeRuntime();
  runtime.settings.set({ ...runtime.settings.get(), firstRun: 'microphone' });
  const fake = createFakeSound();
  prepare(fake);
  const page = await openPage({ runtime, sound: fake.sound });
  const settle = async () => {
    for (let i = 0; i < 8; i += 1) await page.pass(0);
  };
  const press = async (name: string | RegExp) => {
    fireEvent.click(screen.getByRole('button', { name }));
    await settle();
  };
  /** Sound into one of the open microphones. */
  const hear = async (at: number, pcm: Float32Array) => {
    await act(async () => {
      for (const piece of pieces(pcm, 128)) fake.microphones.at(at)?.core.process(piece, 128);
    });
    await page.pass(100);
  };
  return { runtime, page, fake, press, hear, settle };
}
const text = () => document.body.textContent ?? '';
const meter = (name: string) => screen.getByRole('meter', { name: `Level of ${name}` });

describe('the microphone step', () => {
  it('opens nothing and asks nobody before a press; then the lease comes first', async () => {
    const { runtime, fake, page, press } = await microphone();
    expect([fake.tracks.length, runtime.callsOf('voice.testMicrophone').length]).toEqual([0, 0]);
    runtime.failNext('voice.testMicrophone', new AppError('MIC_DENIED'));
    await press('Turn on the microphone');
    expect(fake.tracks).toEqual([]);
    expect(text()).toContain('Sotto may not use the microphone.');
    expect(text()).toContain('Allow the microphone in the settings of the system');
    await press('Try again');
    expect(fake.tracks.length).toBeGreaterThan(0);
    page.close();
  });

  it('shows a live level beside each device, in a word and a figure', async () => {
    verifies('UX-115');
    const { page, press, hear } = await microphone();
    await press('Turn on the microphone');
    await hear(0, tone(200, 200, 16_000, 0.2));
    expect(meter('As the system: Desk').getAttribute('aria-valuetext')).toBe('Good, −17 dB');
    await hear(1, noise(-50, 200));
    expect(meter('Headset').getAttribute('aria-valuetext')).toBe('Too quiet, −50 dB');
    expect(within(meter('Headset')).getByTitle('Room noise −50 dB')).toBeTruthy();
    await hear(1, tone(200, 200, 16_000, 1));
    expect(meter('Headset').getAttribute('aria-valuetext')).toMatch(/^Too loud/);
    await hear(1, silence(200));
    await hear(1, silence(200));
    expect(meter('Headset').getAttribute('aria-valuetext')).toBe('No sound');
    page.close();
  });

  it('a choice is kept by name and opens that device', async () => {
    const { runtime, fake, page, press, settle } = await microphone();
    await press('Turn on the microphone');
    fireEvent.click(screen.getByRole('radio', { name: /Headset/ }));
    await settle();
    expect(runtime.settings.get().microphone).toBe('Headset');
    expect(
      fake.tracks
        .filter(({ readyState }) => readyState === 'live')
        .map(({ label }) => label)
        .sort(),
    ).toEqual(['Desk', 'Headset']);
    page.close();
  });

  it('a sentence is held in memory, judged, played back and forgotten', async () => {
    verifies('UX-19');
    const { fake, page, press, hear, settle } = await microphone();
    await press('Turn on the microphone');
    await hear(0, noise(-60, 400));
    await press('Record');
    await hear(0, tone(180, 1_000, 16_000, 0.2));
    expect(screen.getByRole('timer').textContent).toMatch(/^Recording, [34](\.\d)? s left$/);
    await press('Stop');
    await hear(0, noise(-60, 100));
    expect(text()).toMatch(/Loudness.*Good, −1\d dB/);
    expect(text()).toMatch(/Clipping.*None/);
    expect(text()).toMatch(/Room noise.*Quiet/);
    await press('Hear it');
    await settle();
    const played = fake.play(700);
    expect(played.some((x) => Math.abs(x) > 0.1)).toBe(true);
    await press('Stop');
    await press('Go on');
    expect(fake.loudspeakers.every(({ closed }) => closed)).toBe(true);
    expect(fake.microphones.every(({ closed }) => closed)).toBe(true);
    expect(fake.tracks.every(({ readyState }) => readyState === 'ended')).toBe(true);
    page.close();
  });

  it('five seconds are the most', async () => {
    const { page, press, hear } = await microphone();
    await press('Turn on the microphone');
    await hear(0, tone(180, 300, 16_000, 0.2));
    await press('Record');
    await hear(0, tone(180, 6_000, 16_000, 0.2));
    await hear(0, tone(180, 200, 16_000, 0.2));
    expect(screen.getByRole('button', { name: 'Record again' })).toBeTruthy();
    expect(text()).toMatch(/Recorded: 5(\.0)? s of sound/);
    page.close();
  });

  it('a microphone of zeros is named with its cure, and sound takes that back', async () => {
    const { page, press, hear } = await microphone();
    await press('Turn on the microphone');
    await hear(0, silence(1_700));
    expect(text()).toContain('No sound came from Default - Desk.');
    expect(screen.getByRole('button', { name: 'Choose another microphone' })).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Record' }).disabled).toBe(true);
    await hear(0, tone(180, 200, 16_000, 0.2));
    expect(text()).not.toContain('No sound came from');
    page.close();
  });

  it.each([
    ['NotFoundError', 'There is no microphone.'],
    ['NotReadableError', 'No sound can be read from'],
    ['NotAllowedError', 'Sotto may not use the microphone.'],
  ])('%s is named with cause and cure, and typing is a way out', async (name, words) => {
    const { fake, page, press } = await microphone((sound) => sound.refuseWith(name));
    await press('Turn on the microphone');
    expect(text()).toContain(words);
    fake.refuseWith(null);
    await press('Try again');
    expect(screen.getAllByRole('meter').length).toBeGreaterThan(0);
    page.close();
  });

  it('one that is pulled is looked for, and its loss is said', async () => {
    const { fake, page, press, hear, settle } = await microphone();
    await press('Turn on the microphone');
    await hear(0, tone(180, 200, 16_000, 0.2));
    fake.inputs.splice(0, 2);
    fake.refuseWith('NotFoundError');
    await act(async () => fake.tracks[0]?.pull());
    for (let i = 0; i < 6; i += 1) {
      await page.pass(2_000);
      await settle();
    }
    expect(text()).toContain('The microphone is gone.');
    page.close();
  });

  it('type only skips it, gets only what answers, and never asks for sound', async () => {
    const { runtime, fake, page, press } = await microphone();
    await press('Type only');
    expect(runtime.settings.get()).toMatchObject({ typeOnly: true, firstRun: 'machine' });
    expect(screen.getByRole<HTMLInputElement>('radio', { name: 'Type only' }).checked).toBe(true);
    expect(fake.tracks).toEqual([]);
    page.close();
  });

  it('without a loudspeaker the figures still count', async () => {
    const { page, press, hear, settle } = await microphone((sound) => sound.takeOutput());
    await press('Turn on the microphone');
    await hear(0, tone(180, 300, 16_000, 0.2));
    await press('Record');
    await hear(0, tone(180, 600, 16_000, 0.2));
    await press('Stop');
    await hear(0, tone(180, 100, 16_000, 0.2));
    await press('Hear it');
    await settle();
    expect(text()).toContain('It cannot be played');
    page.close();
  });
});

describe('the talk key', () => {
  it('is tried without talking, and its form is named with its reason', async () => {
    const { runtime, page } = await microphone();
    const key = screen.getByRole('region', { name: 'Try the talk key' });
    expect(key.textContent).toContain('Press Ctrl Alt Space now.');
    expect(key.textContent).toContain('In the window only');
    await act(async () => void fireEvent.keyDown(document.body, { key: ' ', code: 'Space', ctrlKey: true, altKey: true }));
    expect(key.textContent).toContain('Held.');
    await act(async () => void fireEvent.keyUp(document.body, { key: ' ', code: 'Space', ctrlKey: true, altKey: true }));
    expect(key.textContent).toContain('The key works.');
    expect(runtime.callsOf('voice.arm')).toEqual([]);
    page.close();
  });
});
