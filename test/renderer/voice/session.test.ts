// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { createVoiceSession, type Played } from '../../../src/renderer/lib/voiceSession.ts';
import type { LineUp } from '../../../src/shared/contract/voiceLine.ts';
import { newId } from '../../../src/shared/domain/ids.ts';
import { AppError, isAppError } from '../../../src/shared/errors/appError.ts';
import { join, noise, peak, rms, silence, tone } from '../../helpers/audio.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createFakeSound } from '../fakeSound.ts';
import { createFakeVoice } from '../fakeVoice.ts';

// The page's side of a voice line over the real worklet code: what the runtime asks for is done, and what happened is told.

async function setUp() {
  const clock = createFakeClock();
  const devices = createFakeSound();
  const voice = createFakeVoice();
  const choices = { microphone: null as string | null, loudspeaker: null as string | null, tones: true };
  const played: Played[] = [];
  const outputs: (string | null)[] = [];
  const seen = { levels: 0, lost: 0, closed: 0 };
  const session = createVoiceSession({
    openVoice: (signal) => voice.openVoice(signal),
    sound: devices.sound,
    clock,
    choices: () => choices,
    onLevel: () => {
      seen.levels += 1;
    },
    onClosed: () => {
      seen.closed += 1;
    },
    onPlayed: (each) => played.push(each),
    onOutput: (error) => outputs.push(error?.code ?? null),
    onLineLost: () => {
      seen.lost += 1;
    },
    onError: () => {},
  });
  const settle = () => clock.advanceAsync(0);
  const ready = session.ready();
  await settle();
  const of = <T extends LineUp['t']>(t: T) => voice.line.up.filter((each): each is Extract<LineUp, { t: T }> => each.t === t);
  return {
    session,
    clock,
    devices,
    voice,
    choices,
    played,
    outputs,
    seen,
    settle,
    ready,
    of,
    /** Opens the microphone as the runtime does. */
    async open(device: string | null = null) {
      voice.line.down({ t: 'openMic', device });
      await settle();
    },
    mics: () => of('mic').map(({ state, device, code }) => [state, device, code ?? ''].filter((part) => part !== '').join(' ')),
  };
}

const chunk = (phrase: number, ms: number, more: Partial<{ generation: number; last: boolean; from: number; to: number }> = {}) => ({
  generation: more.generation ?? 1,
  phrase,
  last: more.last ?? true,
  range: { from: more.from ?? phrase * 10, to: more.to ?? phrase * 10 + 9 },
  rateHz: 24_000,
  pcm: Float32Array.from(tone(440, ms, 24_000)),
});

describe('the microphone on the line', () => {
  it('VO-07: opened is told when the device is open, live only when the first real sound came, and the cue waits for it', async () => {
    const one = await setUp();
    expect(await one.ready).toBe('line-1');
    await one.open();
    one.voice.line.down({ t: 'begin', preRollMs: 400 });
    one.voice.line.down({ t: 'cue', kind: 'listening' });
    one.devices.hear(silence(640));
    await one.settle();
    expect(one.mics()).toEqual(['opened Default - Desk']);
    expect(one.devices.loudspeakers[0]?.tones).toEqual([]);
    one.devices.hear(noise(-50, 64));
    await one.settle();
    expect(one.mics()).toEqual(['opened Default - Desk', 'live Default - Desk']);
    expect(one.devices.loudspeakers[0]?.tones).toHaveLength(1);
  });

  it('no tone sounds while they are switched off; the others need no microphone', async () => {
    const one = await setUp();
    one.voice.line.down({ t: 'cue', kind: 'slow' });
    await one.settle();
    expect(one.devices.loudspeakers[0]?.tones).toHaveLength(1);
    one.choices.tones = false;
    one.voice.line.down({ t: 'cue', kind: 'failed' });
    await one.settle();
    expect(one.devices.loudspeakers[0]?.tones).toHaveLength(1);
  });

  it('from begin to end: the sound before the key, the tail after it, then "ended"; the numbers have no hole', async () => {
    verifies('VO-01');
    const one = await setUp();
    await one.open();
    one.devices.hear(join(noise(-60, 640), tone(440, 320)));
    const sessionId = newId('session', 1);
    one.session.key(true, sessionId, one.clock.monotonicMs());
    one.voice.line.down({ t: 'begin', preRollMs: 400 });
    one.devices.hear(tone(440, 640));
    one.session.key(false, sessionId, one.clock.monotonicMs());
    one.voice.line.down({ t: 'end', tailMs: 250 });
    one.devices.hear(noise(-60, 960));
    await one.settle();
    expect(one.of('key').map(({ down }) => down)).toEqual([true, false]);
    expect(one.of('ended')).toHaveLength(1);
    const { frames } = one.voice.line;
    expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, i) => i));
    // 400 + 640 + 250 ms, whole frames of 32.
    expect(frames.length * 32).toBeGreaterThanOrEqual(1_290);
    expect(frames.length * 32).toBeLessThanOrEqual(1_290 + 96);
    expect(rms(frames[3]?.samples ?? new Float32Array(1))).toBeGreaterThan(0.1);
  });

  it('a press that the page noticed late reaches further back', async () => {
    const one = await setUp();
    await one.open();
    one.devices.hear(noise(-50, 2_000));
    const pressedAt = one.clock.monotonicMs();
    await one.clock.advanceAsync(300);
    one.session.key(true, null, pressedAt);
    one.voice.line.down({ t: 'begin', preRollMs: 400 });
    await one.settle();
    expect(one.voice.line.frames.length).toBeGreaterThanOrEqual(Math.floor(700 / 32));
    // Said once: the next one begins at its own press.
    one.voice.line.down({ t: 'end', tailMs: 0 });
    one.devices.hear(noise(-50, 2_000));
    const before = one.voice.line.frames.length;
    one.session.key(true, null, one.clock.monotonicMs());
    one.voice.line.down({ t: 'begin', preRollMs: 400 });
    await one.settle();
    expect(one.voice.line.frames.length - before).toBeLessThanOrEqual(14);
  });

  it('begin without a microphone is ended at once: the runtime waits for nothing', async () => {
    const one = await setUp();
    one.voice.line.down({ t: 'begin', preRollMs: 400 });
    await one.settle();
    expect(one.of('ended')).toHaveLength(1);
  });

  it('a press while the tail of the one before still comes: each begin has its own end, and the frames lie between them', async () => {
    const one = await setUp();
    await one.open();
    one.devices.hear(noise(-50, 320));
    one.voice.line.down({ t: 'begin', preRollMs: 0 });
    one.devices.hear(tone(440, 320));
    one.voice.line.down({ t: 'end', tailMs: 250 });
    one.devices.hear(tone(440, 64));
    one.voice.line.down({ t: 'begin', preRollMs: 0 });
    one.devices.hear(tone(440, 320));
    one.voice.line.down({ t: 'end', tailMs: 0 });
    one.devices.hear(tone(440, 64));
    await one.settle();
    expect(one.of('ended')).toHaveLength(2);
  });

  it('what the system refuses is told by its code; a close is told, once', async () => {
    const one = await setUp();
    one.devices.refuseWith('NotAllowedError');
    await one.open();
    expect(one.mics()).toEqual(['failed MIC_DENIED']);
    one.devices.refuseWith(null);
    await one.open();
    one.voice.line.down({ t: 'closeMic' });
    await one.settle();
    expect(one.mics()).toEqual(['failed MIC_DENIED', 'opened Default - Desk', 'closed']);
    expect(one.devices.tracks.every(({ readyState }) => readyState === 'ended')).toBe(true);
  });

  it('VO-10: unplugged while someone talks: what was heard is closed, the device is opened anew, and the numbers go on', async () => {
    const one = await setUp();
    await one.open('Headset');
    one.devices.hear(noise(-50, 640));
    one.voice.line.down({ t: 'begin', preRollMs: 0 });
    one.devices.hear(tone(440, 320));
    await one.settle();
    const heard = one.voice.line.frames.length;
    one.devices.inputs.pop();
    one.devices.tracks[0]?.pull();
    await one.settle();
    await one.clock.advanceAsync(2_000);
    expect(one.of('ended')).toHaveLength(1);
    expect(one.mics().at(-1)).toBe('changed Default - Desk');
    one.devices.hear(noise(-50, 64));
    await one.settle();
    expect(one.mics().at(-1)).toBe('live Default - Desk');
    one.voice.line.down({ t: 'begin', preRollMs: 0 });
    one.devices.hear(tone(440, 64));
    await one.settle();
    expect(one.voice.line.frames.slice(heard).map(({ seq }) => seq)).toEqual(one.voice.line.frames.slice(heard).map((_, i) => heard + i));
  });

  it('VO-10: after three tries it is lost, and said so', async () => {
    const one = await setUp();
    await one.open();
    one.devices.hear(noise(-50, 320));
    one.devices.inputs.length = 0;
    one.devices.tracks[0]?.pull();
    for (let i = 0; i < 4; i += 1) await one.clock.advanceAsync(2_000);
    expect(one.mics().at(-1)).toBe('lost');
  });

  it('exact zeros are told as silent, and sound that comes later as live', async () => {
    const one = await setUp();
    await one.open();
    one.devices.hear(silence(1_600));
    await one.settle();
    expect(one.mics().at(-1)).toBe('silent Default - Desk');
    one.devices.hear(noise(-50, 64));
    await one.settle();
    expect(one.mics().at(-1)).toBe('live Default - Desk');
  });

  it('VO-04: another microphone is taken while the present one is open, by its name', async () => {
    const one = await setUp();
    await one.open();
    one.devices.hear(noise(-50, 64));
    one.voice.line.down({ t: 'begin', preRollMs: 0 });
    one.choices.microphone = 'Headset';
    one.session.choose();
    await one.settle();
    expect(one.mics().at(-1)).toBe('changed Headset');
    expect(one.of('ended')).toHaveLength(1);
    expect(one.devices.tracks[0]?.readyState).toBe('ended');
    expect(one.devices.tracks[1]?.label).toBe('Headset');
  });

  it('VO-09: a mute stops the track at once, and an opening that was on its way does not open it again', async () => {
    const one = await setUp();
    await one.open();
    one.devices.hear(noise(-50, 640));
    one.voice.line.down({ t: 'begin', preRollMs: 400 });
    await one.settle();
    const settled = one.session.mute();
    expect(one.devices.tracks[0]?.readyState).toBe('ended');
    const sent = one.voice.line.frames.length;
    one.devices.hear(tone(440, 640));
    await one.open();
    expect(one.voice.line.frames.length).toBe(sent);
    expect(one.mics().slice(-2)).toEqual(['closed', 'failed MIC_MUTED']);
    // Lifted by a person: the runtime asks again, and then it opens.
    settled();
    await one.open();
    expect(one.mics().at(-1)).toBe('opened Default - Desk');
  });
});

describe('the loudspeaker on the line', () => {
  it('what was played is told by phrase and place, then drained; captions know the length of the phrase', async () => {
    const one = await setUp();
    one.voice.line.say(chunk(0, 400));
    one.voice.line.say(chunk(1, 200));
    one.voice.line.down({ t: 'finish', generation: 1 });
    await one.settle();
    const taken = one.devices.play(1_000);
    expect(peak(taken)).toBeGreaterThan(0.3);
    await one.settle();
    const marks = one.of('played');
    expect(marks.filter(({ done }) => done).map(({ heard }) => [heard.phrase, heard.from, heard.to])).toEqual([
      [0, 0, 9],
      [1, 10, 19],
    ]);
    expect(one.of('drained')).toEqual([{ t: 'drained', generation: 1 }]);
    const last = one.played.findLast(({ phrase }) => phrase === 0);
    expect(last).toMatchObject({ generation: 1, totalMs: 400, complete: true });
    expect(last?.ms).toBeGreaterThan(390);
  });

  it('stop silences at once and tells how far it was heard; late chunks of that answer stay silent', async () => {
    const one = await setUp();
    one.voice.line.say(chunk(0, 1_000, { generation: 4 }));
    await one.settle();
    one.devices.play(300);
    one.voice.line.down({ t: 'stop', generation: 4 });
    await one.settle();
    one.devices.play(10);
    await one.settle();
    const [stopped] = one.of('stopped');
    expect(stopped).toMatchObject({ generation: 4, heard: { phrase: 0, from: 0, to: 9 } });
    expect(stopped?.heard?.ms).toBeGreaterThan(280);
    one.voice.line.say(chunk(1, 500, { generation: 4 }));
    await one.settle();
    expect(peak(one.devices.play(500))).toBe(0);
  });

  it('stop before anything sounded: nothing of it was heard', async () => {
    const one = await setUp();
    one.voice.line.down({ t: 'stop', generation: 2 });
    await one.settle();
    one.devices.play(10);
    await one.settle();
    expect(one.of('stopped')).toEqual([{ t: 'stopped', generation: 2, heard: null }]);
  });

  it('pause keeps the place, and resume goes on from it', async () => {
    const one = await setUp();
    one.voice.line.say(chunk(0, 600));
    await one.settle();
    one.devices.play(200);
    one.voice.line.down({ t: 'pause' });
    await one.settle();
    one.devices.play(20);
    expect(peak(one.devices.play(500))).toBe(0);
    one.voice.line.down({ t: 'resume' });
    one.voice.line.down({ t: 'finish', generation: 1 });
    await one.settle();
    expect(peak(one.devices.play(600))).toBeGreaterThan(0.3);
    await one.settle();
    expect(one.of('drained')).toHaveLength(1);
  });

  it('VO-65: without a loudspeaker the answer is captions, and the runtime is not left waiting', async () => {
    const clock = createFakeClock();
    const devices = createFakeSound();
    devices.takeOutput();
    const voice = createFakeVoice();
    const outputs: string[] = [];
    const session = createVoiceSession({
      openVoice: (signal) => voice.openVoice(signal),
      sound: devices.sound,
      clock,
      choices: () => ({ microphone: null, loudspeaker: null, tones: true }),
      onLevel: () => {},
      onClosed: () => {},
      onPlayed: () => {},
      onOutput: (error) => outputs.push(error?.code ?? 'fine'),
      onLineLost: () => {},
      onError: () => {},
    });
    expect(await session.ready()).toBe('line-1');
    voice.line.say(chunk(0, 300));
    voice.line.say(chunk(1, 300));
    await clock.advanceAsync(0);
    voice.line.down({ t: 'finish', generation: 1 });
    voice.line.down({ t: 'stop', generation: 1 });
    await clock.advanceAsync(0);
    const kinds = voice.line.up.map(({ t }) => t);
    expect(kinds.filter((t) => t === 'outputLost')).toHaveLength(1);
    expect(kinds).toContain('drained');
    expect(kinds).toContain('stopped');
    expect(outputs).toContain('DEVICE_LOST');
  });

  it('VO-04: another loudspeaker is taken while it sounds; voice off gives it back', async () => {
    const one = await setUp();
    one.choices.loudspeaker = 'Headset';
    one.session.choose();
    await one.settle();
    expect(one.devices.loudspeakers[0]?.output).toBe('id Headset');
    one.session.rest();
    await one.settle();
    expect(one.devices.loudspeakers[0]?.closed).toBe(true);
    await one.session.ready();
    await one.settle();
    // The choice holds for the next one too.
    expect(one.devices.loudspeakers[1]?.output).toBe('id Headset');
  });
});

describe('the line itself', () => {
  it('lost: microphone and loudspeaker are given up, and the next ready opens a new one', async () => {
    const one = await setUp();
    await one.open();
    one.devices.hear(noise(-50, 64));
    one.voice.line.lose();
    await one.settle();
    expect(one.seen.lost).toBe(1);
    expect(one.devices.tracks[0]?.readyState).toBe('ended');
    expect(one.devices.loudspeakers[0]?.closed).toBe(true);
    const again = one.session.ready();
    await one.settle();
    expect(await again).toBe('line-2');
  });

  it('what is no message ends it', async () => {
    const one = await setUp();
    one.voice.line.raw('{"t":"sing"}');
    await one.settle();
    expect(one.voice.line.isClosed).toBe(true);
    expect(one.seen.lost).toBe(1);
  });

  it('one that does not say its name is given up, and a refused one says why', async () => {
    const one = await setUp();
    await one.ready;
    one.voice.line.lose();
    await one.settle();
    one.voice.stayNameless();
    const code = (promise: Promise<string>) =>
      promise.then(
        () => 'opened',
        (error: unknown) => (isAppError(error) ? error.code : error),
      );
    const waiting = code(one.session.ready());
    await one.clock.advanceAsync(5_000);
    expect(await waiting).toBe('VOICE_LINE_UNKNOWN');
    one.voice.refuseLines(new AppError('RUNTIME_UNAVAILABLE'));
    expect(await code(one.session.ready())).toBe('RUNTIME_UNAVAILABLE');
  });

  it('two wishes at once open one line and one loudspeaker', async () => {
    const one = await setUp();
    await Promise.all([one.session.ready(), one.session.ready()]);
    expect(one.voice.lines).toHaveLength(1);
    expect(one.devices.loudspeakers).toHaveLength(1);
  });
});
