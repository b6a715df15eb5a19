import { describe, expect, it } from 'vitest';
import { voiceLimits } from '../../../../src/runtime/voice/limits.ts';
import { audio } from '../../../../src/shared/domain/audio.ts';
import { AppError } from '../../../../src/shared/errors/appError.ts';
import { noise, offset, silence } from '../../../helpers/audio.ts';
import { verifies } from '../../../helpers/verifies.ts';
import { setUpVoice, spoken } from './harness.ts';

const crashed = new AppError('ENGINE_CRASHED', { engineKey: 'speech', stage: 'decode' });
const breaker = new AppError('ENGINE_BREAKER_OPEN', { engineKey: 'speech', retryAfterMs: 60_000 });

describe('the speech engine is killed', () => {
  it('while somebody talks: one notice, it is started again, and the next try works', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    page.press();
    await me.settle();
    me.vad.failOnce(crashed);
    page.say(spoken());
    await me.settle();
    expect(me.notices()).toEqual(['ENGINE_CRASHED']);
    expect(me.view()).toMatchObject({ phase: 'standby', fault: null, notice: { code: 'ENGINE_CRASHED', data: { stage: 'decode' } } });
    expect(me.vad.seen).toMatchObject({ streams: 2, open: 1 });
    page.release();
    me.agent.answers('Three.');
    await me.ask(page, 'what time is it');
    expect(me.agent.sent).toMatchObject([{ text: 'what time is it' }]);
  });

  it('while words are read: the same', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    page.press();
    await me.settle();
    page.say(spoken());
    await me.wait(500);
    me.listen.failOnce(crashed);
    page.release();
    await me.settle();
    expect(me.view()).toMatchObject({ phase: 'standby', notice: { code: 'ENGINE_CRASHED' } });
    me.agent.answers('Three.');
    await me.ask(page, 'what time is it');
    expect(me.agent.sent).toMatchObject([{ text: 'what time is it' }]);
  });

  it('and does not start again: that is where voice stands, not in a rest that hears nothing', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    page.press();
    await me.settle();
    me.vad.fail(crashed);
    page.say(spoken());
    await me.settle();
    expect(me.view()).toMatchObject({ phase: 'failed', line: null, fault: { code: 'ENGINE_CRASHED', data: { stage: 'decode' } } });
  });

  it('while the answer sounds: what was made plays on, the rest is captions, then it is started again', async () => {
    await using me = setUpVoice();
    const page = await me.armed({ plays: 'by hand' });
    await me.ask(page, 'what time is it');
    me.agent.last().push({ kind: 'delta', text: 'It is three o’clock. ' });
    await me.settle();
    page.playPart(0.5);
    await me.settle();
    me.speak.fail(crashed);
    me.agent.last().push({ kind: 'delta', text: 'You have a meeting. ' }, { kind: 'ended', how: 'completed' });
    await me.settle();
    expect(me.view()).toMatchObject({ phase: 'speaking', fault: { code: 'ENGINE_CRASHED' } });
    expect(me.view().reply?.phrases.map(({ text }) => text)).toEqual(['It is three o’clock.', 'You have a meeting.']);
    me.speak.fail(null);
    page.playNext();
    await me.settle();
    expect(me.view()).toMatchObject({ phase: 'standby', fault: null });
    expect(me.vad.seen).toMatchObject({ streams: 2, open: 1 });
    me.agent.answers('Three.');
    await me.ask(page, 'what time is it');
    expect(me.agent.sent).toHaveLength(2);
  });

  it('too often: voice fails with that, and does not try by itself', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    me.listen.fail(breaker);
    await me.ask(page, 'what time is it');
    expect(me.view()).toMatchObject({
      phase: 'failed',
      line: null,
      fault: { code: 'ENGINE_BREAKER_OPEN', data: { retryAfterMs: 60_000 } },
    });
    expect(page.isMicOpen()).toBe(false);
    expect(me.agent.sent).toEqual([]);
  });
});

describe('recognition that fails', () => {
  it('is told by its code, makes no turn, and the next try works', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    me.listen.fail(new AppError('ENGINE_FAULT', { engineKey: 'speech', stage: 'decode' }));
    await me.ask(page, 'lost words');
    expect(me.view()).toMatchObject({ phase: 'standby', notice: { code: 'ENGINE_FAULT' }, caption: null });
    expect(me.agent.sent).toEqual([]);
    me.listen.fail(null);
    me.agent.answers('Three.');
    await me.ask(page, 'what time is it');
    expect(me.agent.sent).toHaveLength(1);
  });

  it('that takes too long is given up, and what comes late is nothing', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    me.listen.shut();
    await me.ask(page, 'what time is it');
    expect(me.phase()).toBe('committing');
    // The limit, and a little for each second that was said.
    await me.wait(voiceLimits.flushMs + voiceLimits.tailMs);
    expect(me.phase()).toBe('committing');
    await me.wait(500);
    expect(me.view()).toMatchObject({ phase: 'standby', notice: { code: 'ENGINE_TIMEOUT' } });
    me.listen.open();
    await me.settle();
    expect(me.agent.sent).toEqual([]);
  });
});

describe('memory (VO-94)', () => {
  it('runs out while voice is on: off, with the figures, and never a quiet half of it', async () => {
    verifies('VO-94');
    await using me = setUpVoice();
    const page = await me.armed();
    me.listen.fail(new AppError('MODEL_DOES_NOT_FIT', { needBytes: 300, freeBytes: 100 }));
    await me.ask(page, 'what time is it');
    expect(me.view()).toMatchObject({
      phase: 'off',
      line: null,
      notice: { code: 'VOICE_MEMORY', data: { needBytes: 300, freeBytes: 100 } },
    });
    expect(page.isMicOpen()).toBe(false);
    expect(me.vad.seen.open).toBe(0);
    // Switched on again while there is still too little: a state with code and figures.
    await expect(me.voice.arm({ line: page.id() })).rejects.toMatchObject({ code: 'MODEL_DOES_NOT_FIT' });
    expect(me.view().fault).toEqual({ code: 'MODEL_DOES_NOT_FIT', data: { needBytes: 300, freeBytes: 100 } });
  });
});

describe('the microphone', () => {
  it('changes while somebody talks: what was heard counts, one notice, and the next press works', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    me.agent.answers('Three.', ' Four.');
    me.listen.hears('what time is it');
    page.press();
    await me.settle();
    page.say(spoken());
    await me.settle();
    page.mic('changed');
    page.mic('live');
    await me.wait(200);
    expect(me.agent.sent).toMatchObject([{ text: 'what time is it' }]);
    expect(me.notices()).toEqual(['VOICE_DEVICE_CHANGED']);
    // The page has opened it already: it is not asked again.
    expect(page.of('openMic')).toHaveLength(1);
    expect(page.of('closeMic')).toEqual([]);
    page.release();
    await me.wait(200);
    me.agent.answers('Five.');
    await me.ask(page, 'and now');
    expect(me.agent.sent).toHaveLength(2);
  });

  it('changes before the first word: listening goes on with the new one', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    me.agent.answers('Three.');
    me.listen.hears('what time is it');
    page.press();
    await me.settle();
    page.mic('changed');
    page.mic('live');
    await me.settle();
    expect(page.of('begin')).toHaveLength(2);
    page.say(spoken());
    await me.wait(500);
    page.release();
    await me.settle();
    expect(me.agent.sent).toHaveLength(1);
  });

  it('is lost while somebody talks: the words so far count, then it is trouble', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    me.agent.answers('Three.');
    me.listen.hears('what time is it');
    page.press();
    await me.settle();
    page.say(spoken());
    await me.settle();
    page.mic('lost');
    await me.wait(200);
    expect(me.agent.sent).toMatchObject([{ text: 'what time is it' }]);
    expect(me.view()).toMatchObject({ phase: 'failed', fault: { code: 'DEVICE_LOST', data: { kind: 'input' } } });
    expect(await me.voice.arm({ line: page.id() })).toMatchObject({ phase: 'standby', fault: null });
  });

  it('that cannot be opened again after a mute says why', async () => {
    await using me = setUpVoice();
    await me.armed();
    me.voice.setMuted(true);
    me.gate.fail(new AppError('MIC_DENIED'));
    me.voice.setMuted(false);
    await me.settle();
    expect(me.view()).toMatchObject({ phase: 'failed', fault: { code: 'MIC_DENIED' }, notice: { code: 'MIC_DENIED' } });
  });

  it('that gives only zeros ends the press with its name, and never shows "listening"', async () => {
    await using me = setUpVoice();
    const page = await me.armed({ opens: 'opened', device: 'Headset' });
    page.press();
    await me.settle();
    page.mic('silent');
    await me.settle();
    expect(me.view()).toMatchObject({ phase: 'standby', soundArrived: false, notice: { code: 'MIC_SILENT', data: { device: 'Headset' } } });
    // The next press has its own time; without a sound it ends the same way.
    page.press();
    await me.wait(audio.silentMs - 1);
    expect(me.phase()).toBe('listening');
    await me.wait(1);
    expect(me.phase()).toBe('standby');
    // With a sound it is as if nothing had been.
    page.press();
    await me.settle();
    page.mic('live');
    await me.wait(audio.silentMs);
    expect(me.view()).toMatchObject({ phase: 'listening', soundArrived: true });
  });

  it('says so also while nobody talks', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    page.mic('silent');
    await me.settle();
    expect(me.view()).toMatchObject({ phase: 'standby', notice: { code: 'MIC_SILENT', data: { device: 'Test microphone' } } });
  });
});

describe('nothing heard (VO-59, UX-45)', () => {
  it.each([
    ['silence', silence(3_000)],
    ['faint noise', noise(-60, 3_000)],
    ['a constant', offset(silence(3_000), 0.001)],
  ])('%s: no words, no turn, and a notice with device and level', async (_name, sound) => {
    await using me = setUpVoice();
    const page = await me.armed();
    me.listen.hears('Thank you for watching!');
    page.press();
    await me.settle();
    page.say(sound);
    await me.wait(3_000);
    page.release();
    await me.settle();
    expect(me.agent.sent).toEqual([]);
    expect(me.view()).toMatchObject({
      phase: 'standby',
      caption: null,
      notice: { code: 'NOTHING_HEARD', data: { device: 'Test microphone', level: expect.any(Number) } },
    });
  });

  it('words that the signs speak against are never acted on, nor left on the screen', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    me.listen.hears('thanks for watching', { noSpeechProb: 0.8, partials: [{ text: 'thanks for', stable: 'thanks' }] });
    page.press();
    await me.settle();
    page.say(spoken(500));
    await me.wait(500);
    page.release();
    await me.settle();
    expect(me.agent.sent).toEqual([]);
    expect(me.view()).toMatchObject({ caption: null, notice: { code: 'NOTHING_HEARD' } });
  });

  it('a key that is let go at once and a device that gave nothing are no fault', async () => {
    await using me = setUpVoice();
    const page = await me.armed({ opens: 'opened' });
    page.press();
    await me.wait(400);
    page.release();
    await me.wait(0);
    expect(me.view()).toMatchObject({ phase: 'standby', notice: { code: 'NOTHING_HEARD' } });
  });
});
