import { describe, expect, it } from 'vitest';
import { newId } from '../../../src/shared/domain/ids.ts';
import { starterBundle } from '../../../src/shared/domain/starterBundle.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeRuntime, downloadJob } from '../fakeRuntime.ts';
import { createFakeSound } from '../fakeSound.ts';
import { spokenTurn } from '../fakeVoice.ts';
import { act, fireEvent, openPage, screen } from '../page.tsx';
import { allInstalled, installedOf, shipped, starterOf } from '../starterModels.ts';

async function talk(prepare: (runtime: ReturnType<typeof createFakeRuntime>) => void = () => {}) {
  const runtime = createFakeRuntime();
  runtime.setCatalogue(shipped);
  runtime.setInstalled(allInstalled);
  runtime.settings.set({ ...runtime.settings.get(), firstRun: 'talk' });
  prepare(runtime);
  const fake = createFakeSound();
  const page = await openPage({ runtime, sound: fake.sound });
  const settle = async () => {
    for (let i = 0; i < 6; i += 1) await page.pass(0);
  };
  await settle();
  const button = (name: string) => screen.getByRole('button', { name });
  const hold = async () => {
    await act(async () => void fireEvent.pointerDown(button('Turn voice on'), { button: 0, pointerId: 1 }));
    await settle();
    await act(async () => void fireEvent.pointerUp(button('Talk'), { button: 0, pointerId: 1 }));
    await settle();
  };
  const show = (change: Parameters<typeof runtime.voice.show>[0]) => page.change(() => runtime.voice.show(change));
  return { runtime, page, settle, hold, show, button };
}
const heading = () => screen.getByRole('heading', { level: 1 }).textContent;
const text = () => document.body.textContent ?? '';
const turnId = newId('turn', 1_700_000_000_000);
const reply = (sentences: string[]) => {
  let at = 0;
  const phrases = sentences.map((sentence, phrase) => {
    const from = at;
    at += sentence.length + 1;
    return { phrase, from, to: at - 1, text: sentence };
  });
  return { generation: 1, turnId, phrases };
};

describe('the first talk', () => {
  it('UX-22: waits for the bundle and begins by itself when it is proven', async () => {
    const { runtime, page, settle } = await talk((r) => {
      r.setInstalled(allInstalled.slice(1));
      const { id, file } = starterOf('language');
      r.downloads.set({ jobs: [downloadJob({ modelId: id, total: file.bytes, received: 50_000_000 })] });
    });
    expect(heading()).toBe('Almost there');
    expect(text()).toContain('Still missing: Answers.');
    expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('75');
    runtime.setInstalled(allInstalled);
    await page.change(() => void runtime.moveJob({ phase: 'installed' }));
    await settle();
    expect(heading()).toBe('You can talk now.');
    page.close();
  });

  it('UX-133: the small bundle talks while a larger model is still on its way', async () => {
    verifies('UX-133');
    const { page } = await talk((r) => {
      const large = shipped.find(({ slot, starter }) => slot === 'speak' && !starter);
      if (large === undefined) throw new Error('the catalogue has no larger voice');
      r.downloads.set({ jobs: [downloadJob({ modelId: large.id, total: 5_000_000_000, received: 50_000_000 })] });
    });
    expect(heading()).toBe('You can talk now.');
    expect(screen.getByRole('button', { name: 'Turn voice on' })).toBeTruthy();
    // At 50 Mbit/s the bundle is here in half a minute.
    expect(starterBundle(shipped, 'talk').bytes / (50_000_000 / 8)).toBeLessThan(120);
    page.close();
  });

  it('what nobody fetches leads back to the machine', async () => {
    const { page } = await talk((r) => r.setInstalled([]));
    fireEvent.click(screen.getByRole('button', { name: 'Back to the machine' }));
    await page.pass(0);
    expect(heading()).toBe('What this machine runs');
    page.close();
  });

  it('whoever types goes on with the model that answers alone', async () => {
    const { page } = await talk((r) => {
      r.settings.set({ ...r.settings.get(), typeOnly: true });
      r.setInstalled([installedOf(starterOf('language'))]);
    });
    expect(heading()).toBe('You can type now.');
    fireEvent.click(screen.getByRole('button', { name: 'Go to chat' }));
    await page.pass(0);
    expect(screen.getByRole('textbox', { name: 'Message' })).toBeTruthy();
    page.close();
  });

  it('UX-157: own words grow, the answer darkens, one line and its waterfall, and one button to this very chat', async () => {
    verifies('UX-157');
    const { runtime, page, hold, show } = await talk();
    const sessionId = runtime.chat('Weather and climate', [['What is climate?', 'The long run of weather.']]);
    await page.pass(0);
    expect(text()).toContain('What is the difference between weather and climate?');
    expect(screen.queryByRole('button', { name: 'Go to chat' })).toBeNull();
    await hold();
    expect(runtime.callsOf('voice.arm')).toHaveLength(1);
    expect(text()).toContain('Ready');

    await show({
      phase: 'hearing',
      key: 'down',
      turnId: null,
      caption: { utterance: 1, text: 'what is cli', stable: 'what is ', final: false },
    });
    const own = screen.getByLabelText('What you say');
    expect(own.querySelector('[data-words=stable]')?.textContent).toBe('what is ');
    expect(own.querySelector('[data-words=unstable]')?.textContent).toBe('cli');
    expect(screen.getByTestId('waveform')).toBeTruthy();

    const caption = { utterance: 1, text: 'What is climate?', stable: 'What is climate?', final: true };
    await show({ phase: 'thinking', key: 'none', sessionId, turnId, caption, stage: { kind: 'reading', fraction: 0.4 } });
    expect(text()).toContain('Reading, 40');

    await show({ phase: 'speaking', stage: null, reply: reply(['The long run of weather.']) });
    const words = () =>
      [...screen.getByLabelText('What Sotto says').querySelectorAll('[data-heard]')].map((w) => w.getAttribute('data-heard'));
    expect(words()).toEqual(['false', 'false', 'false', 'false', 'false']);
    await act(async () =>
      page.services.voice.state.setState({ played: { generation: 1, phrase: 0, ms: 600, totalMs: 1_500, complete: true } }),
    );
    expect(words()).toEqual(['true', 'true', 'true', 'false', 'false']);

    await show({ phase: 'standby', latency: spokenTurn(turnId) });
    await page.pass(0);
    expect(text()).toMatch(/(905 ms|0\.9 s) to first sound · on this machine · 0 bytes sent/);
    expect(screen.getByRole('table', { name: /first sound/ })).toBeTruthy();
    expect(text()).not.toContain('That was slow');
    expect(words()).toEqual(['true', 'true', 'true', 'true', 'true']);
    // Nothing else is offered.
    expect(screen.queryByRole('button', { name: 'Talk' })).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Go to chat' }));
    await page.pass(0);
    await page.pass(0);
    expect(runtime.settings.get().firstRun).toBe('done');
    expect(screen.getAllByRole('article')[0]?.textContent).toContain('What is climate?');
    expect(runtime.callsOf('voice.disarm')).toEqual([]);
    page.close();
  });

  it('a slow turn says so and names the step', async () => {
    const { page, hold, show } = await talk();
    await hold();
    await show({
      phase: 'standby',
      turnId,
      reply: reply(['Yes.']),
      latency: spokenTurn(turnId, { firstToken: 2_900, firstPhrase: 3_000, firstAudioMade: 3_200, firstAudioPlayed: 3_230 }),
    });
    expect(text()).toContain('That was slow: most of the time went into this step: first token.');
    page.close();
  });

  it('an older spoken turn is not this one', async () => {
    const { page } = await talk((r) => r.voice.show({ turnId, latency: spokenTurn(turnId) }));
    expect(heading()).toBe('You can talk now.');
    expect(screen.queryByRole('button', { name: 'Go to chat' })).toBeNull();
    page.close();
  });

  it.each([
    [new AppError('MIC_DENIED'), 'Sotto may not use the microphone.'],
    [new AppError('ASR_UNAVAILABLE', { reason: 'load-failed' }), 'Get a model'],
  ])('what stops it has its cause and its way out: %s', async (error) => {
    const { runtime, page, settle } = await talk((r) => r.failNext('voice.arm', error));
    await act(async () => void fireEvent.pointerDown(screen.getByRole('button', { name: 'Turn voice on' }), { button: 0, pointerId: 1 }));
    await settle();
    expect(text()).toContain(error.code);
    // "You can talk now" stands only while it is so.
    expect(heading()).toBe('Talking does not work yet');
    expect(runtime.callsOf('voice.arm')).toHaveLength(1);
    page.close();
  });

  it('leaving it turns the microphone off', async () => {
    const { runtime, page, hold } = await talk();
    await hold();
    fireEvent.click(screen.getByRole('button', { name: 'Go to chat without it' }));
    await page.pass(0);
    expect(runtime.callsOf('voice.disarm')).toHaveLength(1);
    page.close();
  });
});
