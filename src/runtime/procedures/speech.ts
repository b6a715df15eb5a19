import { implement } from '@orpc/server';
import { contract } from '../../shared/contract/index.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { SpeechToText } from '../inference/speechToText.ts';
import type { TextToSpeech } from '../inference/textToSpeech.ts';
import type { Vad } from '../inference/vad.ts';
import type { Voices } from '../models/voices.ts';
import { hear } from '../speech/hear.ts';
import { fromPcm16, toPcm16 } from '../speech/pcm.ts';
import { spokenForm } from '../voice/spoken/spoken.ts';

export const speechProcedures = (s: { vad: Vad; speechToText: SpeechToText; textToSpeech: TextToSpeech; voices: Voices }) => {
  const os = implement(contract.speech);
  const never = new AbortController().signal;
  return os.router({
    transcribe: os.transcribe.handler(async ({ input, signal }) => {
      const heard = await hear(s, fromPcm16(Buffer.from(input.pcm, 'base64')), signal ?? never);
      return { ...heard, segments: [...heard.segments] };
    }),
    voices: os.voices.handler(({ input }) => ({ voices: s.voices.list(input), standard: s.voices.standard() })),
    measure: os.measure.handler(({ input, signal }) => s.voices.measure(input.modelId, signal ?? never)),
    say: os.say.handler(async function* ({ input, signal }) {
      const { written, ...wish } = input;
      const text = written ? spokenForm(wish.text, { language: wish.language ?? 'en', full: true }).spoken : wish.text;
      if (text.trim() === '') throw new AppError('TEXT_UNSPEAKABLE');
      for await (const { samples, sampleRate, phrase, textRange } of s.textToSpeech.speak({ ...wish, text }, { signal: signal ?? never })) {
        yield { pcm: Buffer.from(toPcm16(samples)).toString('base64'), sampleRate, phrase, textRange: [...textRange] as [number, number] };
      }
    }),
  });
};
