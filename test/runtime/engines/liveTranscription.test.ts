import { describe, expect, it } from 'vitest';
import type { TranscribeResult } from '../../../src/engine/contract/speech.ts';
import { createLiveTranscription, type Decode } from '../../../src/runtime/engines/liveTranscription.ts';
import type { PartialTranscript } from '../../../src/runtime/inference/speechToText.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';

const second = 16_000;
type Ask = {
  seconds: number;
  draft: readonly number[];
  speech: boolean;
  answer(text: string): Promise<void>;
  fail(error: Error): Promise<void>;
};

/** A recogniser whose answers the test gives. */
function setUp() {
  const clock = createFakeClock();
  const asks: Ask[] = [];
  const partials: PartialTranscript[] = [];
  const abort = new AbortController();
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const decode: Decode = (samples, { signal, speech, draft }) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new AppError('CANCELLED')));
      asks.push({
        seconds: samples.length / second,
        draft,
        speech,
        answer(text) {
          resolve(resultOf(text));
          return settle();
        },
        fail(error) {
          reject(error);
          return settle();
        },
      });
    });
  const live = createLiveTranscription({
    clock,
    decode,
    signal: abort.signal,
    onPartial: (partial) => void partials.push(partial),
    finished: async (results, length) => ({
      text: results.map(({ text }) => text).join(' '),
      language: 'en',
      verdict: 'ok',
      averageLogProb: 0,
      noSpeechProb: 0,
      words: null,
      durationMs: (1000 * length) / second,
    }),
  });
  return { live, clock, asks, partials, abort, settle };
}

const resultOf = (text: string): TranscribeResult => ({
  text,
  tokens: text.split(' ').map((_, i) => i + 10),
  verdict: 'ok',
  averageLogProb: -0.1,
  noSpeechProb: 0,
  end: 'end',
  acceptedDraft: 0,
  ms: 1,
});

describe('an utterance while it is spoken', () => {
  it('reads again no sooner than 300 ms or three times the last cost after the last reading, never twice at once', async () => {
    const { live, clock, asks } = setUp();
    live.feed(new Float32Array(second / 4));
    expect(asks).toHaveLength(0);
    live.feed(new Float32Array(second / 4));
    live.feed(new Float32Array(second));
    expect(asks).toHaveLength(1);
    clock.advance(200);
    await asks[0]?.answer('one');
    clock.advance(599);
    live.feed(new Float32Array(512));
    expect(asks).toHaveLength(1);
    clock.advance(1);
    live.feed(new Float32Array(512));
    expect(asks).toHaveLength(2);
    await asks[1]?.answer('one');
    clock.advance(299);
    live.feed(new Float32Array(512));
    expect(asks).toHaveLength(2);
    clock.advance(1);
    live.feed(new Float32Array(512));
    expect(asks).toHaveLength(3);
  });

  it('the reading before is the draft; stable is what two in a row agree on', async () => {
    const { live, clock, asks, partials } = setUp();
    live.feed(new Float32Array(second));
    await asks[0]?.answer('we walked to');
    clock.advance(300);
    live.feed(new Float32Array(second));
    expect(asks[1]?.draft).toEqual([10, 11, 12]);
    await asks[1]?.answer('we walked along the');
    expect(partials).toEqual([
      { text: 'we walked to', stable: '' },
      { text: 'we walked along the', stable: 'we walked' },
    ]);
  });

  it('a piece is closed by 24 s where it is quiet, read anew without a draft, and never read again', async () => {
    const { live, clock, asks, partials, settle } = setUp();
    const loud = new Float32Array(25 * second).fill(0.5);
    loud.fill(0, 20 * second, 20.4 * second);
    live.feed(loud);
    await settle();
    // What is left is read at once as a partial; the closed piece is the other reading.
    await asks.find((ask) => ask.seconds < 6)?.answer('and');
    const closed = asks.find((ask) => ask.seconds > 6);
    expect(closed?.seconds).toBeGreaterThan(20);
    expect(closed?.seconds).toBeLessThan(20.4);
    expect(closed).toMatchObject({ draft: [], speech: true });
    await closed?.answer('the first part');
    clock.advance(300);
    live.feed(new Float32Array(512));
    const partial = asks.at(-1);
    expect(partial?.seconds).toBeLessThan(5.1);
    await partial?.answer('and more');
    expect(partials.at(-1)?.text).toBe('the first part and more');
    const end = live.finish({ speech: true });
    await settle();
    await asks.at(-1)?.answer('and more words');
    expect(await end).toMatchObject({ text: 'the first part and more words' });
  });

  it('the end does not wait for a partial reading, and uses no draft', async () => {
    const { live, asks, partials } = setUp();
    live.feed(new Float32Array(second));
    const end = live.finish({ speech: false });
    expect(asks).toHaveLength(1);
    await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(asks[1]).toMatchObject({ draft: [], speech: false });
    await asks[1]?.answer('all of it');
    expect(await end).toMatchObject({ text: 'all of it', durationMs: 1_000 });
    expect(partials).toEqual([]);
  });

  it('a partial reading that fails is nothing; an end that fails is the failure', async () => {
    const { live, clock, asks, partials } = setUp();
    live.feed(new Float32Array(second));
    await asks[0]?.fail(new AppError('ENGINE_CRASHED', { engineKey: 'speech', stage: 'decode' }));
    clock.advance(300);
    live.feed(new Float32Array(512));
    await asks[1]?.answer('again');
    expect(partials).toHaveLength(1);
    const end = live.finish({ speech: true });
    const refused = expect(end).rejects.toMatchObject({ code: 'ENGINE_TIMEOUT' });
    await new Promise((resolve) => setImmediate(resolve));
    await asks[2]?.fail(new AppError('ENGINE_TIMEOUT', { engineKey: 'speech', stage: 'decode' }));
    await refused;
  });

  it('too little is AUDIO_TOO_SHORT; what was given up or ended takes nothing more', async () => {
    const short = setUp();
    short.live.feed(new Float32Array(1_599));
    await expect(short.live.finish({ speech: true })).rejects.toMatchObject({ code: 'AUDIO_TOO_SHORT' });
    const { live, asks, partials, settle } = setUp();
    live.feed(new Float32Array(second));
    live.close();
    await settle();
    live.feed(new Float32Array(20 * second));
    expect(asks).toHaveLength(1);
    expect(partials).toEqual([]);
    await expect(live.finish({ speech: true })).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});
