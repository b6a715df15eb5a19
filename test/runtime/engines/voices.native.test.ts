import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SpokenPhrase } from '../../../src/runtime/inference/textToSpeech.ts';
import { convConstants, onnxBytes, quantisedConv } from '../../helpers/onnxBytes.ts';
import { installedSpeech, type RealSpeech, realSpeech } from '../../helpers/realSpeech.ts';
import { speechModelPath } from '../../helpers/speechModels.ts';
import { verifies } from '../../helpers/verifies.ts';

const { signal } = new AbortController();
const folder = mkdtempSync(join(tmpdir(), 'sotto-voices-'));
const piper = installedSpeech('tts');
const kokoro = {
  ...installedSpeech('kokoro'),
  voices: [
    { voiceId: 'af_heart', name: 'Heart', language: 'en', locale: 'en-US', gender: 'female' as const },
    { voiceId: 'bf_emma', name: 'Emma', language: 'en', locale: 'en-GB', gender: 'female' as const },
  ],
};
let real: RealSpeech;
beforeAll(() => {
  real = realSpeech({ usable: (slot) => (slot === 'speak' ? [piper, kokoro] : []) });
});
afterAll(async () => {
  await real[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function said(voiceId?: string, language?: string): Promise<SpokenPhrase[]> {
  const phrases: SpokenPhrase[] = [];
  for await (const phrase of real.engines.textToSpeech.speak({ text: 'Good morning.', voiceId, language }, { signal }))
    phrases.push(phrase);
  return phrases;
}

describe('voices of several models', { timeout: 120_000 }, () => {
  it('the voice says which model speaks; without one it is the first of the pack', async () => {
    verifies('VO-97', 'VO-102');
    expect(real.engines.textToSpeech.voices().map(({ voiceId }) => voiceId)).toEqual(['joe', 'af_heart', 'bf_emma']);
    expect((await said())[0]?.sampleRate).toBe(22_050);
    const emma = (await said('bf_emma'))[0];
    const heart = (await said('af_heart'))[0];
    expect([emma?.sampleRate, heart?.sampleRate]).toEqual([24_000, 24_000]);
    expect(emma?.samples.length).toBeGreaterThan(24_000 / 4);
    expect(emma?.samples).not.toEqual(heart?.samples);
    expect((await said('joe'))[0]?.sampleRate).toBe(22_050);
  });

  it('one that is not there is never replaced, nor one that does not speak the language', async () => {
    verifies('VO-64');
    await expect(said('am_puck')).rejects.toMatchObject({ code: 'VOICE_UNKNOWN' });
    await expect(said('bf_emma', 'de')).rejects.toMatchObject({ code: 'TTS_UNAVAILABLE', data: { reason: 'language' } });
    await expect(said(undefined, 'de-DE')).rejects.toMatchObject({ code: 'TTS_UNAVAILABLE', data: { reason: 'language' } });
  });

  it('the trial of a voice measures how long it takes for a second of speech', async () => {
    const measured = await real.engines.trialSpeech({ ...kokoro, path: speechModelPath('kokoro') }, signal);
    expect(measured?.speedFactor).toBeGreaterThan(0);
    expect(await real.engines.trialSpeech({ ...installedSpeech('vad5'), path: speechModelPath('vad5') }, signal)).toBeUndefined();
  });

  it.each([
    ['noise', (path: string) => writeFileSync(path, Buffer.alloc(kokoro.bytes, 'noise'))],
    [
      'another model',
      (path: string) => writeFileSync(path, Buffer.concat([readFileSync(speechModelPath('tts')), Buffer.alloc(50_000_000)])),
    ],
  ])('a trial of %s is MODEL_FILE_CORRUPT', async (name, make) => {
    const path = join(folder, name);
    make(path);
    await expect(real.engines.trialSpeech({ ...kokoro, path }, signal)).rejects.toMatchObject({ code: 'MODEL_FILE_CORRUPT' });
  });
});

describe('a file is made ready in the probe engine', { timeout: 60_000 }, () => {
  const from = join(folder, 'from.pack');
  const to = join(folder, 'to.pack');
  const model = onnxBytes({ nodes: quantisedConv(), constants: convConstants });
  const layout = (tail: number) => [
    { role: 'model', bytes: model.length },
    { role: 'style.a', bytes: tail },
  ];
  const write = (tail: number) => writeFileSync(from, Buffer.concat([model, Buffer.alloc(tail, 'style')]));

  it('tells how far it is, and what came out', async () => {
    write(5_000_000);
    const seen: number[] = [];
    const made = await real.engines.prepare(
      { kind: 'float-conv', from, to, layout: layout(5_000_000) },
      { signal, onProgress: (fraction) => seen.push(fraction) },
    );
    expect(made.bytes).toBe(statSync(to).size);
    expect(seen.at(-1)).toBe(1);
  });

  it('ends where it is told to', async () => {
    write(200_000_000);
    const stop = new AbortController();
    const work = real.engines.prepare(
      { kind: 'float-conv', from, to, layout: layout(200_000_000) },
      { signal: stop.signal, onProgress: () => stop.abort() },
    );
    await expect(work).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(statSync(to).size).toBeLessThan(200_000_000);
  });

  it('what is no ONNX is MODEL_FILE_CORRUPT, and the next file is made ready', async () => {
    writeFileSync(from, Buffer.alloc(100_000, 'noise'));
    const noise = { kind: 'float-conv' as const, from, to, layout: [{ role: 'model', bytes: 100_000 }] };
    await expect(real.engines.prepare(noise, { signal, onProgress: () => {} })).rejects.toMatchObject({ code: 'MODEL_FILE_CORRUPT' });
    write(10);
    await real.engines.prepare({ kind: 'float-conv', from, to, layout: layout(10) }, { signal, onProgress: () => {} });
  });
});
