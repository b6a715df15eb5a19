import { describe, expect, it } from 'vitest';
import { voiceLimits } from '../../../../src/runtime/voice/limits.ts';
import { newId } from '../../../../src/shared/domain/ids.ts';
import { voiceWord } from '../../../../src/shared/domain/voice.ts';
import { join, tone } from '../../../helpers/audio.ts';
import { verifies } from '../../../helpers/verifies.ts';
import { room, setUpVoice, spoken } from './harness.ts';

const chat = newId('session', 1);

describe('hold talks (VO-30, VO-25)', () => {
  it('the pre-roll comes first, silence never ends it, and the tail is heard', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    me.agent.answers('Three.');
    me.listen.hears('what time is it');
    // It began before the press: nothing of that may be lost.
    page.say(tone(220, 1_000));
    page.press(chat);
    await me.settle();
    expect(page.of('begin')).toEqual([{ t: 'begin', preRollMs: voiceLimits.preRollMs }]);
    expect(me.voice.counts().taken).toBe(12);
    page.say(join(tone(220, 640), room(320)));
    for (let second = 0; second < 60; second += 1) {
      page.say(room(992));
      await me.wait(1_000);
      expect(['listening', 'hearing']).toContain(me.phase());
    }
    expect(me.agent.sent).toEqual([]);
    page.release(chat);
    await me.settle();
    expect(page.of('end')).toEqual([{ t: 'end', tailMs: voiceLimits.tailMs }]);
    expect(me.agent.sent).toMatchObject([{ text: 'what time is it', askedSession: chat }]);
  });

  it('each utterance has a key of its own, and no restart makes the same one again', async () => {
    verifies('VO-28');
    const keys: string[] = [];
    for (let life = 0; life < 2; life += 1) {
      await using me = setUpVoice();
      const page = await me.armed();
      for (let turn = 0; turn < 2; turn += 1) {
        me.agent.answers('Three.');
        await me.ask(page, 'what time is it');
        await me.wait(200);
      }
      keys.push(...me.agent.sent.map(({ key }) => key));
    }
    expect(new Set(keys).size).toBe(4);
    for (const key of keys) expect(key).toMatch(/^[\x20-\x7e]{1,255}$/);
  });

  it('begins to load what answers while the person still talks', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    page.press();
    await me.settle();
    expect(me.prewarmed.times).toBe(1);
  });
});

it('words are shown while they are said, and which of them will not change any more', async () => {
  await using me = setUpVoice();
  const page = await me.armed();
  me.listen.hears('what time is it', { partials: [{ text: 'what time', stable: 'what' }] });
  page.press();
  await me.settle();
  page.say(spoken());
  await me.wait(400);
  expect(me.view().caption).toEqual({ utterance: 1, text: 'what time', stable: 'what', final: false });
  page.release();
  await me.wait(100);
  expect(me.view().caption).toEqual({ utterance: 1, text: 'what time is it', stable: 'what time is it', final: true });
});

describe('tap latches (VO-30)', () => {
  it('a tap stays on, and silence ends it', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    me.agent.answers('Three.');
    me.listen.hears('what time is it');
    page.press();
    await me.wait(100);
    page.release();
    await me.settle();
    expect(me.view()).toMatchObject({ phase: 'listening', key: 'latched' });
    page.say(join(spoken(), room(320)));
    await me.settle();
    expect(me.phase()).toBe('pausing');
    await me.wait(voiceLimits.silenceWithoutDetectorMs);
    expect(me.agent.sent).toMatchObject([{ text: 'what time is it' }]);
  });

  it('a second tap ends it at once', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    me.listen.hears('what time is it');
    page.press();
    await me.wait(100);
    page.release();
    page.say(spoken());
    await me.settle();
    page.press();
    await me.settle();
    expect(me.agent.sent).toHaveLength(1);
    page.release();
    await me.settle();
    expect(me.phase()).toBe('thinking');
  });

  it('a click of the key is no utterance: it goes on listening', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    page.press();
    await me.wait(100);
    page.release();
    await me.settle();
    page.say(join(room(320), spoken(96), room(640)));
    await me.wait(100);
    expect(me.steps.map(({ input }) => input.type)).toContain('blip');
    expect(me.view()).toMatchObject({ phase: 'listening', key: 'latched' });
    me.listen.hears('what time is it');
    page.say(join(spoken(), room(320)));
    await me.wait(voiceLimits.silenceWithoutDetectorMs);
    expect(me.agent.sent).toHaveLength(1);
  });
});

describe('Esc cancels (VO-30)', () => {
  it('what was said is forgotten, and the key that comes up later is nothing', async () => {
    await using me = setUpVoice();
    const page = await me.armed();
    page.press();
    await me.settle();
    page.say(spoken());
    await me.wait(500);
    expect(me.voice.cancel()).toEqual({ cancelled: true });
    page.release();
    await me.wait(3_000);
    expect(me.view()).toMatchObject({ phase: 'standby', caption: null });
    expect(me.agent.sent).toEqual([]);
    expect(page.isSending()).toBe(false);
    expect(me.voice.cancel()).toEqual({ cancelled: false });
  });
});

it('VO-105: a key that sticks ends by itself, and what was said counts', async () => {
  await using me = setUpVoice();
  const page = await me.armed();
  me.agent.answers('Three.');
  me.listen.hears('what time is it');
  page.press();
  await me.settle();
  page.say(spoken());
  await me.wait(voiceLimits.longestMs);
  expect(me.agent.sent).toMatchObject([{ text: 'what time is it' }]);
  expect(me.notices()).toContain('VOICE_TOO_LONG');
  await me.wait(200);
  expect(me.view()).toMatchObject({ phase: 'standby', key: 'none' });
  // When it comes up at last, it is nothing.
  page.release();
  await me.settle();
  expect(me.phase()).toBe('standby');
});

describe('"listening" means that sound arrives (VO-07)', () => {
  it('the cue waits for the first sound of a device that is slow to give any', async () => {
    await using me = setUpVoice();
    const page = await me.armed({ opens: 'opened' });
    page.press();
    await me.wait(500);
    verifies('VO-07');
    expect(me.view()).toMatchObject({ phase: 'listening', soundArrived: false });
    expect(voiceWord(me.view()).word).toBe('opening');
    expect(page.of('cue')).toEqual([]);
    page.mic('live');
    await me.settle();
    expect(voiceWord(me.view()).word).toBe('listening');
    expect(page.of('cue')).toEqual([{ t: 'cue', kind: 'listening' }]);
  });

  it('no cue for a press that is over when the sound comes', async () => {
    await using me = setUpVoice();
    const page = await me.armed({ opens: 'opened' });
    page.press();
    await me.wait(500);
    me.voice.cancel();
    page.mic('live');
    await me.settle();
    expect(page.of('cue')).toEqual([]);
  });
});
