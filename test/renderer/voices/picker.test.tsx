import axe from 'axe-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { useUi } from '../../../src/renderer/lib/ui.ts';
import type { VoicePhase } from '../../../src/shared/domain/voice.ts';
import type { SpeakingVoice } from '../../../src/shared/domain/voiceCatalogue.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeRuntime, downloadJob } from '../fakeRuntime.ts';
import { createFakeSound } from '../fakeSound.ts';
import { joe, speakingVoice } from '../fakeVoices.ts';
import { fireEvent, openPage, type PageUnderTest, screen, within } from '../page.tsx';

beforeEach(() => useUi.setState({ voicePicker: false }));

const emma = speakingVoice({ voiceId: 'bf_emma', name: 'Emma', locale: 'en-GB', note: 'B-' });
const heart = speakingVoice();
const here = { state: 'installed', speedFactor: 0.6 } as const;
const german = speakingVoice({ voiceId: 'thorsten', name: 'Thorsten', language: 'de', locale: 'de-DE', gender: 'male' });

async function openPicker(voices: readonly SpeakingVoice[], standard?: readonly string[]) {
  const runtime = createFakeRuntime();
  const devices = createFakeSound();
  runtime.voices.set(voices, standard);
  const page = await openPage({ runtime, sound: devices.sound });
  await page.change(() => useUi.getState().go('settings'));
  fireEvent.click(screen.getByRole('button', { name: 'Choose a voice' }));
  await page.pass(0);
  await page.pass(0);
  return { page, runtime, devices, dialog: within(screen.getByRole('dialog', { name: 'Voices' })) };
}

const press = async (page: PageUnderTest, name: string) => {
  fireEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name }));
  for (let i = 0; i < 4; i += 1) await page.pass(0);
};
const row = (voiceId: string) => within(screen.getByTestId(`voice-${voiceId}`));
const faults = async () =>
  (
    await axe.run({ include: [document.body] }, { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: false } } })
  ).violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html.slice(0, 160)}`));

describe('UX-179: the list of voices', () => {
  it('is by language, then gender, and says all that is known of a voice, and what is not', async () => {
    verifies('UX-179');
    const { dialog } = await openPicker([heart, emma, { ...joe, check: 'understood' }, german]);
    expect(dialog.getAllByRole('heading', { level: 3 }).map((h) => h.textContent)).toEqual([
      'English',
      'German',
      'Where the voices come from',
    ]);
    expect(dialog.getAllByRole('heading', { level: 4 }).map((h) => h.textContent)).toEqual(['Women', 'Men', 'Men']);
    const facts = screen.getByTestId('voice-joe').textContent;
    expect(facts).toMatch(/Joe · American.*Piper Joe · 63 MB · licence MIT.*understood · 0.2 s for 1 s of speech/);
    expect(screen.getByTestId('voice-bf_emma').textContent).toMatch(/British.*not checked · speed not measured/);
  });

  it('a voice that is not installed has Get and no sample; Get fetches its model, and its row says how far', async () => {
    verifies('UX-179', 'VO-96');
    const { page, runtime } = await openPicker([heart, joe]);
    expect(row('af_heart').queryByRole('button', { name: /^Hear/ })).toBeNull();
    expect(row('af_heart').queryByRole('button', { name: /Take/ })).toBeNull();
    await press(page, 'Get Kokoro, 107 MB, for Heart');
    expect(runtime.calls.filter(({ name }) => name === 'models.startDownload').map(({ input }) => input)).toEqual([
      { modelId: 'kokoro-82m-en' },
    ]);
    const job = downloadJob({ modelId: heart.modelId, received: 50_000_000, total: 100_000_000 });
    await page.change(() => runtime.downloads.set({ jobs: [job] }));
    expect(screen.getByTestId('voice-af_heart').textContent).toContain('50 % fetched');
    await page.change(() => runtime.downloads.set({ jobs: [{ ...job, phase: 'verifying', prepared: 0.25 }] }));
    expect(screen.getByTestId('voice-af_heart').textContent).toContain('made ready, 25 %');
    runtime.voices.set([{ ...heart, ...here }, joe], ['joe']);
    await page.change(() => runtime.downloads.set({ jobs: [{ ...job, phase: 'installed' }] }));
    await page.pass(0);
    expect(row('af_heart').getByRole('button', { name: 'Hear Heart' })).toBeTruthy();
  });

  it('the licence notice is shown, and a speed that was measured on a busy machine can be measured again', async () => {
    const notice = 'Kokoro-82M weights and voices by hexgrad';
    const { page, runtime, dialog } = await openPicker([{ ...heart, ...here, notice }, joe], ['joe']);
    expect(dialog.getByText(notice)).toBeTruthy();
    await press(page, 'Measure Kokoro again');
    expect(runtime.calls.at(-2)).toEqual({ name: 'speech.measure', input: { modelId: 'kokoro-82m-en' } });
    expect(screen.getByTestId('voice-af_heart').textContent).toContain('0.4 s for 1 s of speech');
  });
});

describe('VO-96: hearing a voice', () => {
  it('says the fixed sentence, or the own one, at the chosen speed, and the loudspeaker gets it', async () => {
    verifies('VO-96', 'UX-179');
    const { page, runtime, devices, dialog } = await openPicker([{ ...heart, ...here }, joe], ['joe']);
    await press(page, 'Hear Joe');
    expect(runtime.voices.said).toMatchObject([{ voiceId: 'joe', speed: 1, text: expect.stringContaining('Good morning') }]);
    expect(devices.play(100).some((value) => Math.abs(value) > 0.1)).toBe(true);
    const own = dialog.getByRole<HTMLInputElement>('textbox', { name: 'Your own sentence' });
    expect(own.maxLength).toBe(200);
    fireEvent.change(own, { target: { value: 'Have you fed the cat?' } });
    const speed = dialog.getByRole<HTMLInputElement>('slider', { name: /Speed/ });
    expect([speed.min, speed.max]).toEqual(['0.5', '2']);
    fireEvent.change(speed, { target: { value: '1.5' } });
    fireEvent.keyUp(speed, { key: 'ArrowRight' });
    await page.pass(0);
    expect(runtime.settings.get().voiceSpeed).toBe(1.5);
    await press(page, 'Hear Heart');
    expect(runtime.voices.said.at(-1)).toMatchObject({ voiceId: 'af_heart', speed: 1.5, text: 'Have you fed the cat?' });
  });

  it('needs no arming, and ends by itself', async () => {
    verifies('VO-96');
    const { page, runtime, devices } = await openPicker([joe]);
    await press(page, 'Hear Joe');
    expect(runtime.calls.some(({ name }) => name === 'voice.arm')).toBe(false);
    expect(row('joe').getByRole('button', { name: 'Stop Joe' })).toBeTruthy();
    devices.play(300);
    await page.pass(0);
    expect(row('joe').getByRole('button', { name: 'Hear Joe' })).toBeTruthy();
  });

  it('stops when another one starts: the first is taken back from the runtime, and only the second sounds', async () => {
    verifies('VO-96', 'UX-180');
    const { page, runtime, devices } = await openPicker([{ ...heart, ...here }, joe], ['joe']);
    const gate = runtime.voices.hold();
    await press(page, 'Hear Joe');
    await press(page, 'Hear Heart');
    expect(runtime.voices.said[0]?.signal?.aborted).toBe(true);
    await page.change(() => gate.resolve());
    await page.pass(0);
    expect(row('joe').getByRole('button', { name: 'Hear Joe' })).toBeTruthy();
    expect(row('af_heart').getByRole('button', { name: 'Stop Heart' })).toBeTruthy();
    // One tenth of a second was said twice; only one of them is in the loudspeaker.
    const sound = devices.play(500);
    expect(sound.filter((value) => value !== 0).length).toBeLessThan(48_000 * 0.12);
  });

  it.each(['listening', 'hearing', 'speaking'] satisfies VoicePhase[])('stops when anyone talks: %s', async (phase) => {
    verifies('UX-180', 'VO-96');
    const { page, runtime, devices } = await openPicker([joe]);
    await press(page, 'Hear Joe');
    await page.change(() => runtime.voice.show({ phase }));
    expect(row('joe').getByRole('button', { name: 'Hear Joe' })).toBeTruthy();
    expect(devices.play(300).every((value) => value === 0)).toBe(true);
  });

  it('a fault stands at the voice that it concerns, with a way to try again', async () => {
    const { page, runtime } = await openPicker([{ ...heart, ...here }, joe], ['joe']);
    runtime.failNext('speech.say', new AppError('ENGINE_CRASHED', { engineKey: 'speech', stage: 'speak' }));
    await press(page, 'Hear Heart');
    expect(row('joe').queryByRole('group')).toBeNull();
    expect(row('af_heart').getByRole('group')).toBeTruthy();
    await press(page, 'Hear Heart');
    expect(row('af_heart').queryByRole('group')).toBeNull();
  });

  it('closing the picker silences it and gives the loudspeaker back', async () => {
    const { page, devices } = await openPicker([joe]);
    await press(page, 'Hear Joe');
    page.key('Escape', {}, screen.getByRole('dialog'));
    await page.pass(0);
    await page.pass(0);
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(devices.loudspeakers.every(({ closed }) => closed)).toBe(true);
  });

  it('A and B keep two at hand, and one can be heard and taken from there', async () => {
    verifies('UX-179');
    const { page, runtime, dialog } = await openPicker([{ ...heart, ...here }, joe], ['joe']);
    await press(page, 'Put Heart in A');
    await press(page, 'Put Joe in B');
    const two = within(dialog.getByRole('region', { name: 'Two at hand' }));
    expect(two.getAllByRole('listitem').map((item) => item.textContent?.slice(0, 8))).toEqual(['A: Heart', 'B: JoeHe']);
    fireEvent.click(two.getByRole('button', { name: 'Hear B: Joe' }));
    await page.pass(0);
    fireEvent.click(two.getByRole('button', { name: 'Take A: Heart for everything' }));
    await page.pass(0);
    expect(runtime.settings.get().voiceId).toBe('af_heart');
    await press(page, 'Take Heart out of A');
    expect(two.getAllByRole('listitem')).toHaveLength(1);
  });
});

describe('UX-180: taking a voice', () => {
  it('shows which choice decides now, takes one for everything, and goes back', async () => {
    verifies('UX-180', 'VO-97');
    const { page, runtime, dialog } = await openPicker([{ ...heart, ...here }, joe], ['joe']);
    expect(dialog.getByRole('status').textContent).toBe("Joe speaks: Sotto's own voice for this language. You have chosen none.");
    expect(row('joe').getByText('Speaks now')).toBeTruthy();
    await press(page, 'Take Heart for everything');
    expect(runtime.settings.get().voiceId).toBe('af_heart');
    expect(dialog.getByRole('status').textContent).toBe('Heart speaks: your voice for everything.');
    await press(page, "Back to Sotto's own voice");
    expect(runtime.settings.get().voiceId).toBeNull();
  });

  it('a chosen voice that is gone is never replaced: it says so, and offers the next of the order', async () => {
    verifies('UX-180', 'VO-97');
    const { page, runtime, dialog } = await openPicker([heart, joe], ['joe']);
    await page.change(() => runtime.settings.set({ ...runtime.settings.get(), voiceId: 'af_heart' }));
    expect(dialog.getByRole('status').textContent).toMatch(/not here any more/);
    expect(row('joe').queryByText('Speaks now')).toBeNull();
    await press(page, 'Take Joe');
    expect(runtime.settings.get().voiceId).toBe('joe');
  });

  it.each([
    ['misheard', { check: 'misheard' }, /not understood/],
    ['too slow here', { talk: 'tooSlow', speedFactor: 1.84 }, /needs 1.84 s for 1 s of speech/],
  ] as const)('one that failed its check cannot be taken for talk, and says why: %s', async (_, change, why) => {
    verifies('UX-180');
    await openPicker([{ ...heart, ...here, ...change }, joe], ['joe']);
    expect(row('af_heart').getByRole<HTMLButtonElement>('button', { name: 'Take Heart for everything' }).disabled).toBe(true);
    expect(row('af_heart').getByText(why)).toBeTruthy();
    expect(row('af_heart').getByRole<HTMLButtonElement>('button', { name: 'Hear Heart' }).disabled).toBe(false);
  });

  it('with nothing installed nobody speaks, and it says so', async () => {
    const { dialog } = await openPicker([heart], []);
    expect(dialog.getByRole('status').textContent).toMatch(/no voice is installed/);
  });
});

describe('states of the picker', () => {
  it('axe finds nothing, while one sounds and one failed too', { timeout: 30_000 }, async () => {
    verifies('UX-126');
    const { page, runtime } = await openPicker([{ ...heart, ...here, talk: 'tooSlow' }, emma, joe, german], ['joe']);
    await press(page, 'Put Joe in B');
    await press(page, 'Hear Joe');
    expect(await faults()).toEqual([]);
    runtime.failNext('speech.say', new AppError('TTS_UNAVAILABLE', { reason: 'load-failed' }));
    await press(page, 'Hear Heart');
    expect(await faults()).toEqual([]);
  });

  it('a list that cannot be read says so and is read again', async () => {
    const runtime = createFakeRuntime();
    runtime.voices.set([joe]);
    runtime.failNext('speech.voices', new AppError('RUNTIME_UNAVAILABLE'));
    const page = await openPage({ runtime });
    await page.change(() => useUi.getState().set({ voicePicker: true }));
    const dialog = within(screen.getByRole('dialog', { name: 'Voices' }));
    expect(dialog.getByRole('group')).toBeTruthy();
    fireEvent.click(within(dialog.getByRole('group')).getByRole('button'));
    await page.pass(0);
    await page.pass(0);
    expect(row('joe').getByRole('button', { name: 'Hear Joe' })).toBeTruthy();
  });

  it('a choice that is not stored is told', async () => {
    const { page, runtime, dialog } = await openPicker([{ ...heart, ...here }, joe], ['joe']);
    runtime.failNext('settings.set', new AppError('STORE_IO'));
    await press(page, 'Take Heart for everything');
    expect(dialog.getByText('STORE_IO', { exact: false })).toBeTruthy();
    expect(dialog.getByRole('status').textContent).toContain('Joe speaks');
  });
});
