import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SpeechLoadParams, speechMethods } from '../../../src/engine/contract/speech.ts';
import { resample } from '../../../src/shared/util/resampler.ts';
import { type EngineChild, startEngine } from '../../helpers/engineChild.ts';
import { speechModel, speechModelPath } from '../../helpers/speechModels.ts';
import { verifies } from '../../helpers/verifies.ts';
import { wordErrors, wordsOf } from '../../helpers/wordErrors.ts';

let engine: EngineChild;
let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sotto-kokoro-'));
  engine = startEngine({}, { key: 'speech' });
  expect((await engine.call('tts.load', { ...speechModel('kokoro'), model: 'kokoro' })).error).toBeUndefined();
  expect((await engine.call('asr.load', speechModel('asr'))).error).toBeUndefined();
  // A busy machine may take long for two loads; the bound is that of a stuck engine.
}, 60_000);
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

type Wish = { text: string; voice?: string; accent?: 'en-us' | 'en-gb'; speed?: number; model?: string };

async function speak(wish: Wish) {
  const { data, error } = await engine.call('tts.speak', { model: 'kokoro', ...wish });
  expect(error).toBeUndefined();
  return speechMethods['tts.speak'].result.parse(data);
}

async function hear({ samples, sampleRate }: { samples: Float32Array; sampleRate: number }): Promise<string> {
  const sound = resample(samples, sampleRate, 16_000);
  const { data, error } = await engine.call('asr.transcribe', { samples: sound, speech: true });
  expect(error).toBeUndefined();
  return speechMethods['asr.transcribe'].result.parse(data).text;
}

const sentences = ['Good morning, the meeting is on Thursday afternoon.', 'Please bring the printed budget and two lamps.'];
const voices = [
  ['af_heart', 'en-us'],
  ['af_bella', 'en-us'],
  ['am_michael', 'en-us'],
  ['am_puck', 'en-us'],
  ['bf_emma', 'en-gb'],
  ['bm_george', 'en-gb'],
] as const;

describe('Kokoro speaks', { timeout: 60_000 }, () => {
  it('six voices say two sentences each, and the recogniser understands them', { timeout: 180_000 }, async () => {
    verifies('VO-102');
    let errors = 0;
    let words = 0;
    for (const [voice, accent] of voices)
      for (const text of sentences) {
        errors += wordErrors(text, await hear(await speak({ text, voice, accent })));
        words += wordsOf(text).length;
      }
    // The facts have 0 to 3 % for these voices; what is measured here, a person reads in the log.
    console.log(`Kokoro, 6 voices × 2 sentences: ${errors} word errors in ${words} words`);
    expect(errors / words).toBeLessThan(0.1);
  });

  it('the same text in two voices is not the same sound, and of the same voice it is', async () => {
    const [heart, again, michael] = [
      await speak({ text: 'Hello there.', voice: 'af_heart' }),
      await speak({ text: 'Hello there.', voice: 'af_heart' }),
      await speak({ text: 'Hello there.', voice: 'am_michael' }),
    ];
    expect(again.samples).toEqual(heart.samples);
    expect(michael.samples).not.toEqual(heart.samples);
    // Without a name it is the first of the file.
    expect((await speak({ text: 'Hello there.' })).samples).toEqual((await speak({ text: 'Hello there.', voice: 'af_alloy' })).samples);
  });

  it('faster is shorter and slower is longer; it begins and ends without a click, and with no silence that one would wait for', async () => {
    const [fast, plain, slow] = [
      await speak({ text: 'One, two, three.', speed: 2 }),
      await speak({ text: 'One, two, three.' }),
      await speak({ text: 'One, two, three.', speed: 0.5 }),
    ];
    expect(fast.samples.length * 1.5).toBeLessThan(plain.samples.length);
    expect(plain.samples.length * 1.5).toBeLessThan(slow.samples.length);
    const { samples, sampleRate, madeMs } = plain;
    expect(sampleRate).toBe(24_000);
    expect([samples[0], samples.at(-1)].map((value) => Math.abs(value ?? 1))).toEqual([0, 0]);
    // The model's own sound has over half a second of silence around it.
    expect((samples.length / sampleRate) * 1000).toBeLessThan(madeMs - 500);
    const loud = samples.findIndex((value) => Math.abs(value) > 0.01);
    expect(loud / sampleRate).toBeLessThan(0.04);
  });

  it.each([
    ['signs only', { text: '... !?' }, 'TEXT_UNSPEAKABLE'],
    ['a picture', { text: '☃' }, 'TEXT_UNSPEAKABLE'],
    ['a voice that is not in it', { text: 'Hello.', voice: 'jf_alpha' }, 'VOICE_UNKNOWN'],
    ['a model that is not loaded', { text: 'Hello.', model: 'piper' }, 'INVALID_INPUT'],
  ])('%s: a typed error, and the engine lives', async (_, wish, code) => {
    expect((await engine.call('tts.speak', { model: 'kokoro', ...wish })).error?.code).toBe(code);
  });

  it('a second model is loaded beside it, to compare two voices', async () => {
    expect((await engine.call('tts.load', { ...speechModel('tts'), model: 'piper' })).error).toBeUndefined();
    expect((await speak({ text: 'Hello.', model: 'piper' })).sampleRate).toBe(22_050);
    expect((await speak({ text: 'Hello.' })).sampleRate).toBe(24_000);
    const { data } = await engine.call('tts.load', { ...speechModel('kokoro'), model: 'kokoro' });
    expect(speechMethods['tts.load'].result.parse(data).loadMs).toBe(0);
    await hear(await speak({ text: 'Hello.', model: 'piper' }));
  });
});

describe('a file that is not what it should be: MODEL_FILE_CORRUPT, and the engine lives', { timeout: 60_000 }, () => {
  const damaged = (name: string, change: (params: SpeechLoadParams) => SpeechLoadParams) => [name, change] as const;
  const withoutPart = (role: string) => (params: SpeechLoadParams) => ({
    ...params,
    files: Object.fromEntries(Object.entries(params.files).filter(([own]) => own !== role)),
  });

  it.each([
    damaged('gone', (params) => ({ ...params, files: { ...params.files, model: { path: join(folder, 'nowhere'), offset: 0, bytes: 9 } } })),
    damaged('without its vocabulary', withoutPart('vocabulary')),
    damaged('without its model', withoutPart('model')),
    damaged('without a voice', ({ files, ...params }) => ({
      ...params,
      files: Object.fromEntries(Object.entries(files).filter(([role]) => !role.startsWith('style.'))),
    })),
    damaged('a voice that is too short', (params) => {
      const own = params.files['style.af_heart'];
      return own === undefined ? params : { ...params, files: { ...params.files, 'style.af_heart': { ...own, bytes: 100 } } };
    }),
    damaged('cut short', (params) => {
      const path = join(folder, 'short');
      writeFileSync(path, readFileSync(speechModelPath('kokoro')));
      truncateSync(path, 50_000_000);
      const moved = Object.entries(params.files).map(([role, slice]) => [role, { ...slice, path }] as const);
      return { ...params, files: Object.fromEntries(moved) };
    }),
    damaged('no ONNX', (params) => {
      const path = join(folder, 'noise');
      writeFileSync(path, Buffer.alloc(91_838_045, 'noise'));
      return { ...params, files: { ...params.files, model: { path, offset: 0, bytes: 91_838_045 } } };
    }),
    damaged('another model', (params) => ({ ...params, files: { ...params.files, ...speechModel('tts').files } })),
  ])('%s', async (_, change) => {
    expect((await engine.call('tts.load', { ...change(speechModel('kokoro')), model: 'bad' })).error?.code).toBe('MODEL_FILE_CORRUPT');
    expect((await engine.call('vad.load', speechModel('vad5'))).error).toBeUndefined();
  });
});
