import { afterAll, beforeAll, describe } from 'vitest';
import { type RealSpeech, realSpeech } from '../../helpers/realSpeech.ts';
import { recordings } from '../../helpers/recordings.ts';
import { speechToTextSuite } from './speechToTextSuite.ts';
import { textToSpeechSuite } from './textToSpeechSuite.ts';
import { vadSuite } from './vadSuite.ts';

// Every form that a port has here, over the same promises.

const starting = 120_000;

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
});

describe('the older Silero that comes with Sotto', () => {
  const speech = started(() => realSpeech({ chosen: () => null }));
  vadSuite(() => ({ vad: speech().engines.vad, speech: recorded() }));
});

describe('Moonshine', () => {
  const speech = started(() => realSpeech());
  speechToTextSuite(() => ({ speechToText: speech().engines.speechToText, speech: recorded() }));
});

describe.each(['espeak-ng', 'phonemize'] as const)('Piper over %s', (phonemizer) => {
  const speech = started(() => realSpeech({}, phonemizer));
  textToSpeechSuite(() => speech().engines.textToSpeech);
});
