import { beforeEach, describe } from 'vitest';
import { tone } from '../../helpers/audio.ts';
import { fakeSpeechToText, fakeTextToSpeech, fakeVad } from '../../helpers/voiceFakes.ts';
import { speechToTextSuite } from './speechToTextSuite.ts';
import { textToSpeechSuite } from './textToSpeechSuite.ts';
import { vadSuite } from './vadSuite.ts';

// The scripted ports of other tests promise what the real ones do: a test over a fake that lies proves nothing.

const speech = tone(220, 2_000);

describe('the scripted activity port', () => {
  const { vad } = fakeVad();
  vadSuite(() => ({ vad, speech }));
});

describe('the scripted recogniser', () => {
  let fake = fakeSpeechToText();
  beforeEach(() => {
    fake = fakeSpeechToText();
    for (let i = 0; i < 4; i += 1) fake.hears('good morning', { partials: [{ text: 'good', stable: '' }] });
  });
  speechToTextSuite(() => ({ speechToText: fake.speechToText, speech }));
});

describe('the scripted voice', () => {
  const { textToSpeech } = fakeTextToSpeech();
  textToSpeechSuite(() => textToSpeech);
});
