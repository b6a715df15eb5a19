import { AppError, isAppError } from '../../shared/errors/appError.ts';
import type { SpeakRequest, SpokenPhrase, TextToSpeech } from '../inference/textToSpeech.ts';
import { type Phrase, phrasesOf } from '../speech/phrases/phraser.ts';
import type { EngineClient } from './engineClient.ts';
import type { SpeechEngine } from './speechEngine.ts';
import type { InstalledSpeech, SpeechSlots } from './speechPorts.ts';

const SPEAK_MS = 60_000;

/** The voice on this machine. */
export function createLocalTextToSpeech(deps: { client: EngineClient; engine: SpeechEngine; slots: SpeechSlots }): TextToSpeech {
  const { client, engine, slots } = deps;

  /** @throws AppError: a voice or a language that is not there is never replaced by another one (VO-64). */
  function chosen({ voiceId, language }: SpeakRequest): InstalledSpeech {
    const model = slots.chosen('speak');
    if (model === null) throw new AppError('TTS_UNAVAILABLE', { reason: 'model-missing' });
    if (voiceId !== undefined && !model.voices.some((voice) => voice.voiceId === voiceId)) throw new AppError('VOICE_UNKNOWN');
    const spoken = language?.split('-')[0]?.toLowerCase();
    if (spoken !== undefined && !model.languages.includes(spoken)) throw new AppError('TTS_UNAVAILABLE', { reason: 'language' });
    return model;
  }

  async function say(model: InstalledSpeech, phrase: Phrase, speed: number, signal: AbortSignal) {
    const leave = await engine.turnstiles.speak.enter(signal);
    try {
      await engine.load('speak', model, signal);
      return await client.call('tts.speak', { text: phrase.text, speed }, { signal, deadline: { stage: 'speak', ms: SPEAK_MS } });
    } catch (error) {
      if (isAppError(error, 'TEXT_UNSPEAKABLE')) return null;
      throw error;
    } finally {
      leave();
    }
  }

  return {
    voices: () => slots.chosen('speak')?.voices ?? [],
    async ready({ signal }) {
      const { model, sampleRate } = await engine.load('speak', slots.chosen('speak'), signal);
      if (sampleRate === null) throw new AppError('TTS_UNAVAILABLE', { reason: 'shape-mismatch' });
      return { modelId: model.modelId, sampleRate };
    },
    async *speak(request, { signal }): AsyncGenerator<SpokenPhrase, void, void> {
      const model = chosen(request);
      const left = new AbortController();
      const stop = AbortSignal.any([signal, left.signal]);
      const speak = (phrase: Phrase) => {
        const made = say(model, phrase, request.speed ?? 1, stop);
        // Waited for when its turn comes; whoever leaves before that does not ask.
        made.catch(() => {});
        return { phrase, made };
      };
      const phrases = phrasesOf(request.text, request.language?.split('-')[0]?.toLowerCase() ?? model.languages[0] ?? 'en');
      let spoken = 0;
      try {
        let next = phrases[0] === undefined ? null : speak(phrases[0]);
        for (let i = 1; next !== null; i += 1) {
          const { phrase, made } = next;
          const sound = await made;
          const following = phrases[i];
          next = following === undefined ? null : speak(following);
          if (sound === null || sound.samples.length === 0) continue;
          yield { samples: sound.samples, sampleRate: sound.sampleRate, phrase: spoken, textRange: [phrase.start, phrase.end] };
          spoken += 1;
        }
      } finally {
        left.abort();
      }
      if (spoken === 0) throw new AppError('TEXT_UNSPEAKABLE');
    },
  };
}
