import { afterEach, describe, expect, it } from 'vitest';
import { newId, type SessionId } from '../../../src/shared/domain/ids.ts';
import { VOICE_PHASES, voiceWord } from '../../../src/shared/domain/voice.ts';
import type { VoiceView } from '../../../src/shared/domain/voiceView.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { join, noise, tone } from '../../helpers/audio.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeSound } from '../fakeSound.ts';
import { spokenTurn, voiceOff } from '../fakeVoice.ts';
import { fireEvent, openPage, type PageUnderTest, screen, within } from '../page.tsx';

let page: PageUnderTest | null = null;
afterEach(() => page?.close());

const bar = () => screen.getByRole('region', { name: 'Voice' });
const button = (name: string | RegExp) => within(bar()).getByRole('button', { name });

async function open(view: Partial<VoiceView> = {}, system: { reduced?: boolean } = {}) {
  // Loaded ahead, as the page itself does after its first paint.
  await import('../../../src/renderer/features/voice/VoiceBarBody.tsx');
  const sound = createFakeSound();
  const opened = await openPage({ sound: sound.sound, ...system });
  page = opened;
  const show = (change: Partial<VoiceView>) => opened.change(() => opened.runtime.voice.show(change));
  if (Object.keys(view).length > 0) await show(view);
  await opened.pass(0);
  return { ...opened, sound, show, voice: opened.runtime.voice };
}

/** As a person does it: voice on by the button, then the microphone that the runtime asks for. */
async function turnedOn(system: { reduced?: boolean } = {}) {
  const one = await open({}, system);
  fireEvent.click(button('Turn voice on'));
  await one.pass(0);
  await one.pass(0);
  one.voice.line.down({ t: 'openMic', device: null });
  await one.pass(0);
  one.sound.hear(noise(-50, 128));
  await one.pass(300);
  return one;
}

const caption = (text: string, stable: string, final = false) => ({ utterance: 1, text, stable, final });

describe('the voice bar', () => {
  it('UX-175: each state has its word, its shape and what belongs beside it, by the one table', async () => {
    verifies('UX-38', 'UX-175', 'VO-107');
    const one = await open();
    const beside: Record<string, RegExp> = {
      off: /Turn voice on/,
      trouble: /The part that understands speech is missing/,
      muted: /Unmute/,
      opening: /Headset/,
      ready: /Hold Ctrl Alt Space and talk/,
      listening: /Let go when you are done/,
      thinking: /Finding the words/,
      speaking: /It was serviced/,
      paused: /I heard something/,
    };
    const seen = new Set<string>();
    for (const phase of VOICE_PHASES)
      for (const muted of [false, true])
        for (const soundArrived of [false, true]) {
          await one.show({
            ...voiceOff,
            phase,
            muted,
            soundArrived,
            device: 'Headset',
            line: 'line-9',
            key: 'down',
            fault: phase === 'failed' ? { code: 'ASR_UNAVAILABLE', data: { reason: 'model-missing' } } : null,
            stage: { kind: 'hearing', fraction: null },
            reply: { generation: 1, turnId: null, phrases: [{ phrase: 0, from: 0, to: 15, text: 'It was serviced.' }] },
          });
          const { word, muteSign } = voiceWord({ phase, muted, soundArrived });
          const words = { off: 'Off', trouble: 'Trouble', muted: 'Muted', opening: 'Opening microphone …', ready: 'Ready' };
          const said = { listening: 'Listening', thinking: 'Thinking', speaking: 'Speaking', paused: 'Paused', ...words };
          expect(bar().dataset['word'], `${phase} ${muted} ${soundArrived}`).toBe(word);
          expect(within(bar()).getByText(said[word])).toBeTruthy();
          expect(bar().querySelectorAll(`[data-sign="${word}"]`)).toHaveLength(1);
          expect(bar().textContent, `${phase} ${muted} ${soundArrived}`).toMatch(beside[word] ?? /never/);
          expect(within(bar()).queryByText('muted') !== null).toBe(muteSign);
          seen.add(word);
        }
    expect([...seen].sort()).toEqual(Object.keys(beside).sort());
  });

  it('UX-01: what is not known is off: without a way to the runtime no microphone is shown as open', async () => {
    const one = await open({ phase: 'standby', line: 'line-9' });
    expect(bar().dataset['word']).toBe('ready');
    one.runtime.refuseLinks(new AppError('RUNTIME_UNAVAILABLE'));
    await one.change(() => one.runtime.cut());
    expect(bar().dataset['word']).toBe('off');
  });

  it('UX-41: "Listening" comes with the first real sound, not with the open device', async () => {
    verifies('UX-41');
    const one = await open({ phase: 'listening', soundArrived: false, device: 'Headset', line: 'line-9' });
    expect(bar().textContent).toContain('Opening microphone …');
    expect(bar().textContent).not.toContain('Listening');
    await one.show({ soundArrived: true });
    expect(bar().textContent).toContain('Listening');
  });

  it('own words: what stays is black, what may change is grey, and the final text is all black', async () => {
    const one = await open({ phase: 'hearing', soundArrived: true, line: 'line-9', caption: caption('when was the boy', 'when was ') });
    const words = () => ({
      stable: bar().querySelector('[data-words="stable"]')?.textContent,
      rest: bar().querySelector('[data-words="unstable"]')?.textContent,
    });
    expect(words()).toEqual({ stable: 'when was ', rest: 'the boy' });
    expect(bar().querySelector('[data-words="stable"]')?.className).toContain('text-text');
    expect(bar().querySelector('[data-words="unstable"]')?.className).toContain('text-text-3');
    await one.show({ phase: 'committing', caption: caption('When was the boiler serviced?', '', true) });
    expect(words()).toEqual({ stable: 'When was the boiler serviced?', rest: '' });
    // A recogniser that took back what it had called stable.
    await one.show({ phase: 'hearing', caption: caption('then was', 'when was') });
    expect(words()).toEqual({ stable: '', rest: 'then was' });
  });

  it('VO-80: the answer goes word by word with the sound of this page; where another page plays it, no word is ahead', async () => {
    verifies('VO-80');
    const one = await turnedOn();
    const phrases = [
      { phrase: 0, from: 0, to: 12, text: 'one two three four' },
      { phrase: 1, from: 12, to: 30, text: 'five six' },
    ];
    const heard = () => [...bar().querySelectorAll('[data-heard="true"]')].map((word) => word.textContent?.trim());
    await one.show({ phase: 'speaking', reply: { generation: 3, turnId: null, phrases } });
    expect(heard()).toEqual([]);
    const chunk = { generation: 3, last: true, rateHz: 24_000, range: { from: 0, to: 12 } };
    one.voice.line.say({ ...chunk, phrase: 0, pcm: Float32Array.from(tone(440, 1_000, 24_000)) });
    one.voice.line.say({ ...chunk, phrase: 1, pcm: Float32Array.from(tone(440, 500, 24_000)) });
    await one.pass(0);
    await one.change(() => void one.sound.play(500));
    expect(heard()).toEqual(['one', 'two', 'three']);
    await one.change(() => void one.sound.play(560));
    expect(heard().slice(0, 4)).toEqual(['one', 'two', 'three', 'four']);
    await one.change(() => void one.sound.play(600));
    expect(heard()).toEqual(['one', 'two', 'three', 'four', 'five', 'six']);
    await one.show({ line: 'line-of-another' });
    expect(bar().querySelectorAll('[data-heard="false"]')).toHaveLength(0);
  });

  it('UX-114: speech is told from noise by what decides it, and its length stands beside in words', async () => {
    verifies('UX-114');
    const one = await turnedOn();
    await one.show({ phase: 'listening', key: 'down' });
    one.sound.hear(noise(-50, 640));
    await one.pass(300);
    expect(bar().textContent).toContain('No speech yet');
    expect(one.services.voice.levels.samples().some(({ speech }) => speech)).toBe(false);
    await one.show({ phase: 'hearing' });
    one.sound.hear(join(tone(300, 1_600), noise(-50, 960)));
    await one.pass(300);
    expect(bar().textContent).toContain('Speech, 1.6 s');
    const samples = one.services.voice.levels.samples();
    // Four seconds and no more; the loud ones are speech, the room is not.
    expect(samples.length).toBeLessThanOrEqual(125);
    expect(samples.filter(({ speech }) => speech).length * 32).toBe(1_600);
    // Switched off, nothing of it is kept.
    await one.change(() => one.voice.line.down({ t: 'closeMic' }));
    expect(one.services.voice.levels.samples()).toEqual([]);
  });

  it('with reduced motion the waveform is a level of ten steps', async () => {
    const one = await turnedOn({ reduced: true });
    await one.show({ phase: 'listening', key: 'down' });
    one.sound.hear(tone(300, 320, 16_000, 0.9));
    await one.pass(300);
    const steps = within(bar()).getByTestId('level-steps');
    expect(steps.children).toHaveLength(10);
    expect(Number(steps.dataset['lit'])).toBeGreaterThanOrEqual(8);
    expect(within(bar()).queryByTestId('waveform')).toBeNull();
  });

  it('thinking says what is done, how far, and for how long', async () => {
    const one = await open({ phase: 'committing', line: 'line-9', stage: { kind: 'hearing', fraction: null } });
    expect(bar().textContent).toContain('Finding the words');
    await one.show({ phase: 'thinking', stage: { kind: 'loading', fraction: 0.4 } });
    await one.pass(3_000);
    expect(bar().textContent).toMatch(/Loading the model, 40 % · 3 s/);
  });

  it('UX-117: the time to the first sound in a line, and where it went as a picture that is its own table', async () => {
    verifies('UX-117');
    const one = await open({ phase: 'standby', line: 'line-9', latency: spokenTurn('t1') });
    const line = button('0.9 s to first sound; slowest: first token');
    expect(screen.queryByRole('table')).toBeNull();
    fireEvent.click(line);
    await one.pass(0);
    const table = within(screen.getByRole('dialog', { name: 'Where the time went' })).getByRole('table', {
      name: 'Time from your last word to the first sound',
    });
    const rows = within(table)
      .getAllByRole('row')
      .map((row) => row.textContent);
    expect(rows).toContain('first token320 ms');
    expect(rows.at(-1)).toBe('To first sound0.9 s');
    // The bars join without gaps: each begins where the one before ends.
    const bars = [...table.querySelectorAll<HTMLElement>('[data-bar]')].map(({ style }) => [
      parseFloat(style.marginLeft),
      parseFloat(style.width),
    ]);
    expect(bars).toHaveLength(8);
    for (const [i, [from]] of bars.entries()) expect(from).toBeCloseTo((bars[i - 1]?.[0] ?? 0) + (bars[i - 1]?.[1] ?? 0), 3);
    const { firstAudioPlayed: _, ...silentMarks } = spokenTurn('t2').marks;
    await one.show({ latency: { ...spokenTurn('t2'), marks: silentMarks } });
    expect(bar().textContent).toContain('No sound was heard; slowest: first token');
  });
});

describe('what a person does in the bar', () => {
  it('mute, stop and off go to the runtime; a mute stops the microphone before it has answered', async () => {
    const one = await turnedOn();
    const release = one.runtime.hold('voice.mute');
    fireEvent.click(button('Mute'));
    expect(one.sound.tracks[0]?.readyState).toBe('ended');
    release();
    await one.pass(0);
    expect(one.runtime.callsOf('voice.mute')).toEqual([{ muted: true }]);
    expect(bar().dataset['word']).toBe('muted');
    fireEvent.click(button('Unmute'));
    await one.pass(0);
    expect(one.runtime.callsOf('voice.mute')).toEqual([{ muted: true }, { muted: false }]);
    await one.show({ phase: 'speaking' });
    fireEvent.click(button('Stop'));
    await one.pass(0);
    expect(one.runtime.callsOf('voice.cancel')).toHaveLength(1);
    await one.show({ phase: 'standby' });
    fireEvent.click(button('Turn off'));
    await one.pass(0);
    expect(bar().dataset['word']).toBe('off');
    expect(one.sound.loudspeakers[0]?.closed).toBe(true);
  });

  it('another microphone is chosen by name, with its level and word beside it, and taken at once', async () => {
    verifies('UX-115');
    const one = await turnedOn();
    one.sound.hear(tone(300, 320, 16_000, 0.18));
    await one.pass(300);
    fireEvent.click(button('Microphone: Headset'));
    await one.pass(300);
    const sheet = screen.getByRole('dialog', { name: 'Sound' });
    expect(within(sheet).getByRole('meter').getAttribute('aria-valuetext')).toMatch(/^Good, [-−]18 dB$/);
    fireEvent.click(within(within(sheet).getByRole('group', { name: 'Microphone' })).getByRole('radio', { name: 'Headset' }));
    await one.pass(0);
    await one.pass(0);
    expect(one.runtime.callsOf('settings.set')).toEqual([{ microphone: 'Headset' }]);
    expect(one.sound.tracks.at(-1)?.label).toBe('Headset');
    fireEvent.click(within(within(sheet).getByRole('group', { name: 'Loudspeaker' })).getByRole('radio', { name: 'Headset' }));
    await one.pass(0);
    await one.pass(0);
    expect(one.sound.loudspeakers[0]?.output).toBe('id Headset');
  });
});

describe('what goes wrong', () => {
  it('UX-45: nothing heard is said with device and level, and offers another microphone', async () => {
    verifies('UX-45');
    const one = await turnedOn();
    await one.show({ notice: { id: 1, code: 'NOTHING_HEARD', data: { device: 'Headset', level: -52.4 } } });
    expect(bar().textContent).toMatch(/I heard nothing\. Headset, [-−]52 dB\./);
    fireEvent.click(button('Choose another microphone'));
    await one.pass(0);
    expect(screen.getByRole('dialog', { name: 'Sound' })).toBeTruthy();
    await one.show({ notice: { id: 2, code: 'NOTHING_HEARD', data: { device: '', level: null } } });
    expect(bar().textContent).toContain('I heard nothing. The microphone, level unknown.');
    fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
    await one.pass(0);
    expect(bar().textContent).not.toContain('I heard nothing');
  });

  it('UX-102: a silent microphone is named with its cure', async () => {
    verifies('UX-102');
    const one = await open();
    await one.show({ phase: 'standby', soundArrived: true, device: 'Headset', line: 'line-9' });
    expect(bar().textContent).toContain('ReadyHold Ctrl Alt Space and talk.');
    await one.show({ phase: 'arming', soundArrived: false });
    expect(bar().textContent).toContain('Opening microphone …');
    await one.show({ phase: 'standby', notice: { id: 1, code: 'MIC_SILENT', data: { device: 'the headset' } } });
    expect(bar().textContent).toContain('No sound came from the headset.');
    expect(button('Choose another microphone')).toBeTruthy();
    // Captions keep two lines and roll.
    await one.show({ phase: 'hearing', soundArrived: true, caption: caption('a long sentence '.repeat(20), '') });
    expect(within(bar()).getByLabelText('What you say').className).toContain('max-h-captions');
  });

  it('models that are missing get a card with the way to them; a fault interrupts a reader, a notice does not', async () => {
    const one = await open({ phase: 'failed', fault: { code: 'ASR_UNAVAILABLE', data: { reason: 'model-missing' } } });
    const card = within(bar()).getByRole('alert');
    expect(card.textContent).toContain('The part that understands speech is missing.');
    fireEvent.click(within(card).getByRole('button', { name: 'Open Models' }));
    await one.pass(0);
    expect(screen.getByRole('heading', { level: 1, name: 'Models' })).toBeTruthy();
  });

  it('what the runtime refuses is said, and the next press tries again', async () => {
    const one = await open();
    one.runtime.failNext('voice.arm', new AppError('VOICE_BUSY'));
    fireEvent.click(button('Turn voice on'));
    await one.pass(0);
    await one.pass(0);
    expect(within(bar()).getByRole('alert').textContent).toContain('Someone is talking to Sotto in another window.');
    fireEvent.click(button('Try again'));
    await one.pass(0);
    await one.pass(0);
    expect(bar().dataset['word']).toBe('ready');
    expect(within(bar()).queryByRole('alert')).toBeNull();
  });

  it('a line that is cut while voice is on is said, and voice can be turned on again over a new one', async () => {
    const one = await turnedOn();
    // The runtime says off before the line's end arrives, on another way.
    await one.show({ phase: 'off', line: null });
    await one.change(() => one.voice.line.lose());
    expect(bar().dataset['word']).toBe('off');
    expect(within(bar()).getByRole('alert').textContent).toContain('The way for sound was cut.');
    expect(one.sound.tracks[0]?.readyState).toBe('ended');
    // The one button for it stands beside the word.
    fireEvent.click(button('Turn voice on'));
    await one.pass(0);
    await one.pass(0);
    expect(one.voice.lines).toHaveLength(2);
    expect(bar().dataset['word']).toBe('ready');
  });

  it('a line that died unnoticed is replaced within the same wish', async () => {
    const one = await turnedOn();
    await one.show({ phase: 'off', line: null });
    one.runtime.failNext('voice.arm', new AppError('VOICE_LINE_UNKNOWN'));
    fireEvent.click(button('Turn voice on'));
    await one.pass(0);
    await one.pass(0);
    await one.pass(0);
    expect(one.voice.lines).toHaveLength(2);
    expect(bar().dataset['word']).toBe('ready');
    expect(within(bar()).queryByRole('alert')).toBeNull();
  });
});

describe('for a screen reader', () => {
  it('UX-125: states are told politely, and an answer that is said aloud is not announced as well', async () => {
    const one = await turnedOn();
    const id: SessionId = one.runtime.chat('Boiler', [['Hello', 'Hi.']]);
    await one.change(() => one.services.connection.retry());
    fireEvent.click(await screen.findByRole('button', { name: 'Boiler' }));
    await one.pass(0);
    const told: string[] = [];
    const note = () => {
      if (told.at(-1) !== one.announced()) told.push(one.announced());
    };
    await one.show({ phase: 'listening', key: 'down' });
    note();
    await one.show({ phase: 'committing' });
    note();
    const turn = one.runtime.ask(id, 'And when?');
    await one.show({ phase: 'thinking', sessionId: id, turnId: turn.turnId });
    note();
    await one.change(() => turn.say('It was serviced on 3 May.'));
    await one.show({ phase: 'speaking' });
    note();
    await one.change(() => turn.complete());
    note();
    await one.show({ phase: 'standby' });
    note();
    expect(told).toEqual(['Listening.', 'Thinking.', 'Speaking.', 'Ready.']);
  });

  it('a typed answer is announced as ever, also after a spoken one', async () => {
    const one = await turnedOn();
    const id = one.runtime.chat('Boiler', [['Hello', 'Hi.']]);
    const spoken = newId('turn', 5);
    await one.show({ sessionId: id, turnId: spoken });
    fireEvent.click(await screen.findByRole('button', { name: 'Boiler' }));
    await one.pass(0);
    const turn = one.runtime.ask(id, 'And when?');
    await one.pass(0);
    expect(one.announced()).toBe('Sotto is answering.');
    await one.change(() => turn.say('On 3 May.'));
    await one.change(() => turn.complete());
    expect(one.announced()).toBe('The answer is done.');
  });
});
