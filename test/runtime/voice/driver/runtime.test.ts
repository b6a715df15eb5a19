import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createClock } from '../../../../src/runtime/platform/clock.ts';
import { defaultVoiceSettings } from '../../../../src/runtime/voice/turn/state.ts';
import type { VoiceView } from '../../../../src/shared/domain/voiceView.ts';
import { gate } from '../../../helpers/scriptedLanguageModel.ts';
import { createTestRuntime } from '../../../helpers/testRuntime.ts';
import { verifies } from '../../../helpers/verifies.ts';
import { fakeSpeechToText, fakeTextToSpeech, fakeVad } from '../../../helpers/voiceFakes.ts';
import { createLinePage } from '../../../helpers/voiceLine.ts';
import { spoken } from './harness.ts';

// The real runtime, agent, store and contract; only models and devices are scripted.

async function setUp() {
  const [vad, listen, speak] = [fakeVad(), fakeSpeechToText(), fakeTextToSpeech()];
  const rt = await createTestRuntime({
    speech: { vad: vad.vad, speechToText: listen.speechToText, textToSpeech: speak.textToSpeech },
  });
  const page = createLinePage(rt.runtime.services.voice, { plays: { clock: createClock() } });
  const { view } = rt.runtime.services.voice;
  /** The first value from now on for which this holds. */
  const until = async (holds: (view: VoiceView) => boolean): Promise<VoiceView> => {
    for await (const { value } of view.watch()) if (holds(value)) return value;
    throw new Error('voice is over');
  };
  await expect.poll(() => page.down.length).toBeGreaterThan(0);
  await rt.client.voice.arm({ line: page.id() });
  return {
    rt,
    vad,
    listen,
    speak,
    page,
    until,
    async ask(text: string) {
      listen.hears(text);
      page.press();
      page.release();
      await until(({ key }) => key === 'latched');
      page.say(spoken());
      await until(({ phase }) => phase === 'hearing' || phase === 'pausing');
      page.press();
    },
    [Symbol.asyncDispose]: () => rt[Symbol.asyncDispose](),
  };
}

describe('talking with the real agent', () => {
  it('a spoken turn is stored as one, answered in sound, and told to every watcher', async () => {
    verifies('VO-88');
    await using me = await setUp();
    me.rt.model.play([{ say: 'It is three o’clock. You have a meeting.' }]);
    const phases: string[] = [];
    const stop = new AbortController();
    const watch = await me.rt.client.voice.phase({}, { signal: stop.signal });
    const watching = (async () => {
      for await (const { value } of watch) if (value.phase !== phases.at(-1)) phases.push(value.phase);
    })().catch(() => {});
    await me.ask('What time is it?');
    const done = await me.until(({ phase, latency }) => phase === 'standby' && latency !== null);
    stop.abort();
    await watching;
    expect(phases).toEqual(expect.arrayContaining(['thinking', 'speaking']));
    const { sessionId, turnId } = done;
    if (sessionId === null || turnId === null) throw new Error('no turn');
    const history = await me.rt.client.turns.history({ sessionId });
    expect(history.messages.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'What time is it?'],
      ['assistant', 'It is three o’clock. You have a meeting.'],
    ]);
    const { events } = await me.rt.client.events.list({ sessionId, after: 0 });
    expect(events.find(({ type }) => type === 'input.message')?.data).toMatchObject({ source: 'voice' });
    // Live values and tables: the log of the chat has nothing of phases, captions and latency.
    expect(events.map(({ type }) => type).filter((type) => type.startsWith('voice.'))).toEqual([]);
    expect((await me.rt.client.voice.latency({})).records).toMatchObject([{ turnId, words: 4 }]);
    // Nothing that was said is in the technical log.
    expect(JSON.stringify(me.rt.log)).not.toMatch(/time is it|three o’clock/);
  });

  it('a press into the answer ends the turn once, and stores what was heard of it after that', async () => {
    verifies('VO-75');
    await using me = await setUp();
    me.rt.model.play([{ say: 'It is three o’clock. ' }, { stall: true }]);
    await me.ask('What time is it?');
    const { sessionId } = await me.until(({ phase }) => phase === 'speaking');
    me.page.press();
    await me.until(({ phase }) => phase === 'listening');
    if (sessionId === null) throw new Error('no chat');
    const events = async () => (await me.rt.client.events.list({ sessionId, after: 0 })).events;
    await expect.poll(async () => (await events()).map(({ type }) => type)).toContain('output.message.heard');
    const found = await events();
    const end = found.findIndex(({ type }) => type === 'turn.cancelled');
    expect(found[end]?.data).toMatchObject({ reason: 'barge-in' });
    expect(found.slice(end + 1).map(({ type }) => type)).toEqual(['output.message.heard']);
    expect(found.filter(({ type }) => type === 'turn.cancelled')).toHaveLength(1);
  });

  it('VO-12: no sound is kept: not in a file, not for another try', async () => {
    verifies('VO-12');
    await using me = await setUp();
    const files = async () => (await readdir(me.rt.dataDir, { recursive: true })).toSorted();
    const before = await files();
    me.rt.model.play([{ say: 'It is three o’clock.' }]);
    await me.ask('What time is it?');
    await me.until(({ phase, latency }) => phase === 'standby' && latency !== null);
    me.page.press();
    me.page.release();
    await me.until(({ key }) => key === 'latched');
    me.page.say(spoken());
    await me.rt.client.voice.cancel({});
    await me.rt.client.voice.disarm({});
    expect(await files()).toEqual(before);
    // The files that are there hold none of it: neither what was said nor what was answered.
    const sounds = [spoken().slice(6_000, 6_064), me.page.chunks[0]?.pcm.slice(1_000, 1_064) ?? new Float32Array(64)];
    for (const file of before) {
      const path = join(me.rt.dataDir, file);
      if (!(await stat(path)).isFile()) continue;
      const bytes = await readFile(path);
      for (const sound of sounds) expect(bytes.includes(Buffer.from(sound.buffer))).toBe(false);
    }
    expect(defaultVoiceSettings.retryRing).toBe(false);
  });

  it('a page that goes takes voice with it, and the turn goes on without sound', async () => {
    verifies('VO-75');
    await using me = await setUp();
    const go = gate();
    me.rt.model.play([{ say: 'It is three o’clock. ' }, { gate: go }, { say: 'You have a meeting.' }]);
    await me.ask('What time is it?');
    const { sessionId } = await me.until(({ phase }) => phase === 'speaking');
    if (sessionId === null) throw new Error('no chat');
    me.page.close();
    const off = await me.until(({ phase }) => phase === 'off');
    expect(off).toMatchObject({ line: null, notice: { code: 'VOICE_PAGE_GONE' } });
    expect(me.vad.seen.open).toBe(0);
    go.open();
    const events = async () => (await me.rt.client.events.list({ sessionId, after: 0 })).events.map(({ type }) => type);
    await expect.poll(events).toContain('turn.completed');
    expect(await events()).not.toContain('turn.cancelled');
  });
});
