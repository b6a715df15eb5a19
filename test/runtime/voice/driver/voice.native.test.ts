import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Vad } from '../../../../src/runtime/inference/vad.ts';
import { createClock } from '../../../../src/runtime/platform/clock.ts';
import { createVoice } from '../../../../src/runtime/voice/createVoice.ts';
import { voiceLimits } from '../../../../src/runtime/voice/limits.ts';
import type { SoundChunk } from '../../../../src/shared/domain/audio.ts';
import type { VoiceView } from '../../../../src/shared/domain/voiceView.ts';
import { resample } from '../../../../src/shared/util/resampler.ts';
import { join, noise, offset, pieces, silence } from '../../../helpers/audio.ts';
import { type RealSpeech, realSpeech } from '../../../helpers/realSpeech.ts';
import { createTestLog } from '../../../helpers/testRuntime.ts';
import { verifies } from '../../../helpers/verifies.ts';
import { fakeChoices, fakeConversation, fakeGate } from '../../../helpers/voiceFakes.ts';
import { createLinePage } from '../../../helpers/voiceLine.ts';
import { wordErrors, wordsOf } from '../../../helpers/wordErrors.ts';

// The driver with the real speech engine in its own process: sound in, words, a scripted answer, sound out.

let speech: RealSpeech;
let question: Float32Array<ArrayBuffer>;
const asked = 'Good morning, when is the meeting on Thursday afternoon?';
beforeAll(async () => {
  speech = realSpeech();
  question = await speech.say(asked);
}, 60_000);
afterAll(() => speech[Symbol.asyncDispose]());

async function setUp() {
  const clock = createClock();
  const agent = fakeConversation();
  const { vad: real, speechToText, textToSpeech } = speech.engines;
  let judged = 0;
  const vad: Vad = {
    ready: (options) => real.ready(options),
    async open(options) {
      const stream = await real.open(options);
      return {
        ...stream,
        async probabilities(samples, rest) {
          const found = await stream.probabilities(samples, rest);
          judged += found.length;
          return found;
        },
      };
    },
  };
  const voice = createVoice({
    clock,
    log: createTestLog(),
    vad,
    speechToText,
    textToSpeech,
    conversation: agent.conversation,
    gate: fakeGate().gate,
    choices: fakeChoices(),
    prewarm: () => {},
    languageModel: () => 'scripted',
  });
  const page = createLinePage(voice);
  const until = async (holds: (view: VoiceView) => boolean): Promise<VoiceView> => {
    for await (const { value } of voice.view.watch()) if (holds(value)) return value;
    throw new Error('voice is over');
  };
  await expect.poll(() => page.down.length).toBeGreaterThan(0);
  await voice.arm({ line: page.id() });
  return {
    agent,
    voice,
    page,
    until,
    /** Starting anew has a limit, which a busy machine can reach: then a person switches voice on again. */
    async ready() {
      for (;;) {
        const { phase } = await until((view) => view.phase === 'standby' || view.phase === 'failed');
        if (phase === 'standby') return;
        await voice.arm({ line: page.id() }).catch(() => {});
      }
    },
    /** Holds the key while this sounds. */
    async talk(sound: Float32Array) {
      const pressedMs = clock.monotonicMs();
      page.press();
      await until(({ key }) => key === 'down');
      // Faster than it would come, but never so far ahead that it would have to be waited for.
      for (const second of pieces(sound, 16_384)) {
        const before = judged;
        page.say(second);
        await expect.poll(() => judged - before, { timeout: 20_000 }).toBeGreaterThan(0);
      }
      // Shorter would be a tap.
      await expect.poll(() => clock.monotonicMs() - pressedMs).toBeGreaterThan(voiceLimits.holdMs);
      page.release();
    },
    [Symbol.asyncDispose]: () => voice[Symbol.asyncDispose](),
  };
}

const whole = (chunks: readonly SoundChunk[]) => join(...chunks.map(({ pcm, rateHz }) => resample(pcm, rateHz, 16_000)));

describe('a spoken turn with real ears and a real voice', { retry: 2 }, () => {
  it('the question becomes words, and the answer becomes sound that says what is written', async () => {
    await using me = await setUp();
    me.agent.answers('The meeting is at **four** o’clock, in the large room. ', 'Please bring your notes.');
    await me.talk(join(silence(400), question, silence(300)));
    const done = await me.until(({ latency }) => latency !== null);
    expect(wordErrors(asked, me.agent.last().text)).toBeLessThanOrEqual(2);
    expect(done).toMatchObject({ activity: { modelId: 'vad5', spare: null }, latency: { models: { asr: 'asr', tts: 'tts' } } });
    const { text } = await speech.engines.speechToText.transcribe(whole(me.page.chunks), {
      signal: new AbortController().signal,
      speech: true,
    });
    const written = 'The meeting is at four o’clock, in the large room. Please bring your notes.';
    expect(wordErrors(written.replace('’', "'"), text) / wordsOf(written).length).toBeLessThanOrEqual(0.35);
  });

  it('VO-59: silence, faint noise and a constant are no words and no turn', async () => {
    verifies('VO-59');
    await using me = await setUp();
    const before = me.voice.view.get().notice?.id ?? 0;
    let notices = before;
    for (const sound of [silence(3_000), noise(-60, 3_000), offset(silence(3_000), 0.2)]) {
      await me.talk(sound);
      const { notice } = await me.until((view) => (view.notice?.id ?? 0) > notices);
      expect(notice).toMatchObject({ code: 'NOTHING_HEARD', data: { device: 'Test microphone', level: expect.any(Number) } });
      notices = notice?.id ?? 0;
    }
    expect(me.agent.sent).toEqual([]);
  });

  it('one second of speech in a long press is its words, and nothing is made of the silence', async () => {
    await using me = await setUp();
    me.agent.answers('Yes.');
    const short = await speech.say('Stop the music now.');
    await me.talk(join(noise(-60, 12_000), short, noise(-60, 20_000)));
    await me.until(({ latency }) => latency !== null);
    expect(wordErrors('Stop the music now.', me.agent.last().text)).toBeLessThanOrEqual(1);
  });
});

describe('the speech engine is killed', () => {
  it('while somebody talks, and while the answer is spoken: a typed notice each time, and the next try works', async () => {
    await using me = await setUp();
    me.page.press();
    await me.until(({ key }) => key === 'down');
    me.page.say(question.subarray(0, 16_000));
    await me.until(({ phase }) => phase === 'hearing');
    process.kill(speech.pids.at(-1) ?? -1, 'SIGKILL');
    me.page.say(question.subarray(16_000));
    const hurt = await me.until(({ notice }) => notice !== null);
    expect(hurt.notice).toMatchObject({ code: 'ENGINE_CRASHED', data: { engineKey: 'speech' } });
    await me.ready();
    me.page.release();
    expect(me.agent.sent).toEqual([]);

    await me.talk(join(silence(400), question, silence(300)));
    await me.until(({ phase }) => phase === 'thinking');
    me.agent.last().push({ kind: 'delta', text: 'The meeting is at four. ' });
    await me.until(({ phase }) => phase === 'speaking');
    process.kill(speech.pids.at(-1) ?? -1, 'SIGKILL');
    me.agent.last().push({ kind: 'delta', text: 'It is in the large room. ' }, { kind: 'ended', how: 'completed' });
    // The answer is there to the end, in words.
    const spoken = await me.until(({ phase, reply }) => phase !== 'speaking' && (reply?.phrases.length ?? 0) === 2);
    expect(spoken.notice).toMatchObject({ code: 'ENGINE_CRASHED' });
    await me.ready();

    me.agent.answers('Yes.');
    await me.talk(join(silence(400), question, silence(300)));
    await me.until(({ latency, phase }) => phase === 'standby' && latency !== null);
    expect(me.agent.sent).toHaveLength(2);
  }, 240_000);
});
