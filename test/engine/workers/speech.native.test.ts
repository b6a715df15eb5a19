import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SpeechLoadParams, speechMethods, type TranscribeResult } from '../../../src/engine/contract/speech.ts';
import { type EngineChild, GENERATION, startEngine } from '../../helpers/engineChild.ts';
import { speechModel, speechModelPath } from '../../helpers/speechModels.ts';
import { wordErrors, wordsOf } from '../../helpers/wordErrors.ts';

let engine: EngineChild;
let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sotto-speech-'));
  engine = startEngine({}, { key: 'speech' });
  for (const [lane, model] of [
    ['vad', 'vad5'],
    ['asr', 'asr'],
    ['tts', 'tts'],
  ] as const)
    expect((await engine.call(`${lane}.load`, speechModel(model))).error).toBeUndefined();
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function speak(text: string, on = engine) {
  const { data, error } = await on.call('tts.speak', { text });
  expect(error).toBeUndefined();
  return speechMethods['tts.speak'].result.parse(data);
}

async function hear(samples: Float32Array, more: Record<string, unknown> = {}): Promise<TranscribeResult> {
  const { data, error } = await engine.call('asr.transcribe', { samples, speech: true, ...more });
  expect(error).toBeUndefined();
  return speechMethods['asr.transcribe'].result.parse(data);
}

/** Good enough to hear by: straight lines between samples. */
function at16k({ samples, sampleRate }: { samples: Float32Array; sampleRate: number }): Float32Array {
  return new Float32Array(Math.floor((samples.length * 16_000) / sampleRate)).map((_, i) => {
    const at = (i * sampleRate) / 16_000;
    const low = Math.floor(at);
    return (samples[low] ?? 0) * (low + 1 - at) + (samples[low + 1] ?? 0) * (at - low);
  });
}

const sentences = [
  'Good morning, the meeting is on Thursday afternoon.',
  'The train to the city leaves in about twenty minutes.',
  'Please bring the printed budget and two lamps.',
  'We walked along the river until it was dark.',
  'She is seven years old and lives near the sea.',
  'I would like a cup of coffee without sugar.',
];

/** The voice is made with random noise, which no session option fixes: an unlucky sentence is said again. */
const again = { retry: 2 };

describe('speech that was made is understood', again, () => {
  it('six spoken sentences come back with few word errors', async () => {
    let errors = 0;
    let words = 0;
    for (const sentence of sentences) {
      const { text, verdict } = await hear(at16k(await speak(sentence)));
      expect(verdict).toBe('ok');
      errors += wordErrors(sentence, text);
      words += wordsOf(sentence).length;
    }
    // The facts have 3.4 % on 40 sentences; pronunciation varies between runs.
    expect(errors / words).toBeLessThan(0.15);
  });

  it('the MIT phonemizer speaks words too, if less clearly', async () => {
    await using other = startEngine({}, { key: 'speech' });
    expect((await other.call('tts.load', { ...speechModel('tts'), phonemizer: 'phonemize' })).error).toBeUndefined();
    let errors = 0;
    let words = 0;
    for (const sentence of sentences.slice(0, 4)) {
      const { text } = await hear(at16k(await speak(sentence, other)));
      errors += wordErrors(sentence, text);
      words += wordsOf(sentence).length;
    }
    expect(errors / words).toBeLessThan(0.6);
  });

  it('a draft of the same sound is taken over whole, a wrong one from where it goes wrong', async () => {
    // A batch of steps rounds differently from single ones, so that one sentence may part from its own draft at a comma: the best counts.
    let taken = 0;
    for (const sentence of sentences.slice(0, 3)) {
      const sound = at16k(await speak(sentence));
      const read = await hear(sound);
      const verified = await hear(sound, { draft: read.tokens });
      expect(wordErrors(read.text, verified.text)).toBe(0);
      taken = Math.max(taken, verified.acceptedDraft / read.tokens.length);
    }
    expect(taken).toBeGreaterThan(0.5);
    const samples = at16k(await speak(sentences[0] ?? ''));
    const plain = await hear(samples);
    const wrong = await hear(samples, { draft: [...plain.tokens.slice(0, 3), 99, 100, 101] });
    // Not bit-exact: a batch of steps rounds differently from single ones, so a comma may differ.
    expect(wordErrors(plain.text, wrong.text)).toBe(0);
    expect(wrong.acceptedDraft).toBeLessThanOrEqual(3);
  });

  it('a word of half a second has words, at a thousandth of the level too', async () => {
    const samples = at16k(await speak('Stop.'));
    expect(wordsOf((await hear(samples)).text)).toEqual(['stop']);
    expect((await hear(samples.map((value) => value / 1000))).verdict).toMatch(/ok|unsure/);
  });
});

describe('sound without speech', again, () => {
  it.each([
    ['zeros', () => 0],
    ['a constant', () => 0.2],
    ['faint noise', (i: number) => (((i * 1_103_515_245 + 12_345) >>> 8) % 2001) / 1e6 - 1e-3],
    ['a tone', (i: number) => 0.3 * Math.sin(i / 6)],
  ] as const)('%s for ten seconds gives no words, even where the activity model was wrong', async (_, make) => {
    expect(await hear(new Float32Array(160_000).map((__, i) => make(i)))).toMatchObject({ text: '', verdict: 'no-speech' });
  });
});

describe('bad input is a typed error, and the engine lives', again, () => {
  it.each([
    ['no sample', 'asr.transcribe', { samples: new Float32Array(0), speech: true }, 'INVALID_INPUT'],
    ['one sample', 'asr.transcribe', { samples: new Float32Array(1), speech: true }, 'INVALID_INPUT'],
    ['31 seconds', 'asr.transcribe', { samples: new Float32Array(16_000 * 31), speech: true }, 'INVALID_INPUT'],
    ['a plain list', 'asr.transcribe', { samples: [0, 1], speech: true }, 'INVALID_INPUT'],
    ['no numbers', 'asr.transcribe', { samples: new Float32Array(16_000).fill(Number.NaN), speech: true }, 'INVALID_AUDIO'],
    ['a sample too few', 'vad.frames', { stream: 0, samples: new Float32Array(511) }, 'INVALID_INPUT'],
    ['a sample too many', 'vad.frames', { stream: 0, samples: new Float32Array(513) }, 'INVALID_INPUT'],
    ['infinite', 'vad.frames', { stream: 0, samples: new Float32Array(512).fill(Number.POSITIVE_INFINITY) }, 'INVALID_AUDIO'],
    ['no text', 'tts.speak', { text: '' }, 'INVALID_INPUT'],
    ['signs only', 'tts.speak', { text: '... !?' }, 'TEXT_UNSPEAKABLE'],
    ['a picture', 'tts.speak', { text: '☃' }, 'TEXT_UNSPEAKABLE'],
    ['too fast', 'tts.speak', { text: 'Hello.', speed: 9 }, 'INVALID_INPUT'],
    ['an unknown method of a worker', 'tts.nothing', {}, 'UNKNOWN_PROCEDURE'],
    ['an unknown method', 'nothing', {}, 'UNKNOWN_PROCEDURE'],
  ])('%s: %s', async (_, method, params, code) => {
    expect((await engine.call(method, params)).error?.code).toBe(code);
  });

  it('a cancelled phrase ends as cancelled, and the next one is spoken', async () => {
    const cut = engine.call('tts.speak', { text: 'This is a rather long phrase that somebody stops before it is over.' });
    engine.cancelLast();
    expect((await cut).error?.code).toBe('CANCELLED');
    expect((await speak('Hello.')).samples.length).toBeGreaterThan(4_000);
  });
});

describe('activity', again, () => {
  it.each(['vad5', 'vad4'] as const)('VO-103: %s finds the word and the silence around it, whatever the pieces', async (which) => {
    await using own = startEngine({}, { key: 'speech' });
    expect((await own.call('vad.load', speechModel(which))).error).toBeUndefined();
    const word = at16k(await speak('Good afternoon everybody.'));
    const samples = new Float32Array(512 * Math.ceil((word.length + 32_000) / 512));
    samples.set(word, 16_000);
    const heard = async (stream: number, frames: number) => {
      const out: number[] = [];
      for (let from = 0; from < samples.length; from += frames * 512) {
        const { data } = await own.call('vad.frames', { stream, samples: samples.slice(from, from + frames * 512) });
        out.push(...speechMethods['vad.frames'].result.parse(data).probabilities);
      }
      return out;
    };
    const whole = await heard(1, 1_000);
    expect(await heard(2, 1)).toEqual(whole);
    const speaking = whole.map((probability) => probability > 0.5);
    expect(speaking.slice(0, 28).some(Boolean)).toBe(false);
    expect(speaking.slice(-12).some(Boolean)).toBe(false);
    expect(speaking.slice(33, 31 + Math.floor(word.length / 512)).filter(Boolean).length).toBeGreaterThan(word.length / 512 / 2);
  });

  it('more streams than it has room for are refused until one is closed', async () => {
    const frame = { samples: new Float32Array(512) };
    for (let stream = 100; stream < 108; stream += 1) expect((await engine.call('vad.frames', { stream, ...frame })).error).toBeUndefined();
    expect((await engine.call('vad.frames', { stream: 108, ...frame })).error?.code).toBe('TOO_MANY_REQUESTS');
    for (let stream = 100; stream < 108; stream += 1) await engine.call('vad.close', { stream });
    expect((await engine.call('vad.frames', { stream: 108, ...frame })).error).toBeUndefined();
    await engine.call('vad.close', { stream: 108 });
  });

  it('answers while the recogniser is at work', async () => {
    const long = hear(new Float32Array(16_000 * 20).map((_, i) => 0.2 * Math.sin(i / 9)));
    let isOver = false;
    void long.then(() => {
      isOver = true;
    });
    expect((await engine.call('vad.frames', { stream: 0, samples: new Float32Array(512) })).error).toBeUndefined();
    expect(isOver).toBe(false);
    await long;
  });
});

describe('a model file that is not what it should be', again, () => {
  const broken = (name: string, make: (path: string) => void): SpeechLoadParams => {
    const path = join(folder, name);
    make(path);
    return { runtimeClass: 'silero-v5', files: { model: { path, offset: 0, bytes: 2_327_524 } } };
  };

  it.each([
    ['missing', () => ({ ...speechModel('vad5'), files: { model: { path: '/nowhere/model', offset: 0, bytes: 10 } } })],
    ['without its part', () => ({ ...speechModel('vad5'), files: {} })],
    [
      'cut short',
      () =>
        broken('short', (path) => {
          writeFileSync(path, readFileSync(speechModelPath('vad5')));
          truncateSync(path, 1_000_000);
        }),
    ],
    ['noise', () => broken('noise', (path) => writeFileSync(path, Buffer.alloc(2_327_524, 'noise')))],
    ['of the other form', () => ({ ...speechModel('vad4'), runtimeClass: 'silero-v5' as const })],
  ])('%s: MODEL_FILE_CORRUPT, and the engine loads the right one afterwards', async (_, make) => {
    await using own = startEngine({}, { key: 'speech' });
    expect((await own.call('vad.load', make())).error?.code).toBe('MODEL_FILE_CORRUPT');
    expect((await own.call('vad.load', speechModel('vad5'))).error).toBeUndefined();
  });

  it('an engine with all three models says goodbye and ends in order', async () => {
    await using own = startEngine({}, { key: 'speech' });
    for (const [lane, model] of [
      ['vad', 'vad4'],
      ['asr', 'asr'],
      ['tts', 'tts'],
    ] as const)
      await own.call(`${lane}.load`, speechModel(model));
    own.post({ k: 'stop', generation: GENERATION });
    expect(await own.exit).toEqual({ code: 0, signal: null });
    expect(own.frames.at(-1)).toMatchObject({ k: 'goodbye' });
  });
});
