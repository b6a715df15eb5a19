import type { ModelVoice } from '../../shared/domain/models.ts';
import { chooseVoice } from '../../shared/domain/voiceChoice.ts';
import { AppError, isAppError } from '../../shared/errors/appError.ts';
import type { SpeakRequest, SpokenPhrase, TextToSpeech } from '../inference/textToSpeech.ts';
import { type Phrase, phrasesOf } from '../speech/phrases/phraser.ts';
import type { EngineClient } from './engineClient.ts';
import { keyOf, type SpeechEngine } from './speechEngine.ts';
import type { InstalledSpeech, SpeechSlots } from './speechPorts.ts';

const SPEAK_MS = 60_000;

type Speaking = { readonly model: InstalledSpeech; readonly voice: ModelVoice };

/** The voice on this machine. */
export function createLocalTextToSpeech(deps: { client: EngineClient; engine: SpeechEngine; slots: SpeechSlots }): TextToSpeech {
  const { client, engine, slots } = deps;

  /** @throws AppError: a voice or a language that is not there is never replaced by another one (VO-64). */
  function chosen({ voiceId, language }: SpeakRequest): Speaking {
    const models = slots.usable('speak');
    if (models.length === 0) throw new AppError('TTS_UNAVAILABLE', { reason: 'model-missing' });
    const voices = models.flatMap((model) => model.voices);
    const decision = chooseVoice({
      chat: null,
      everything: voiceId ?? null,
      voices,
      standard: voices,
      language: language?.split('-')[0]?.toLowerCase(),
    });
    if (decision.problem === 'gone') throw new AppError('VOICE_UNKNOWN');
    for (const model of models) {
      const voice = model.voices.find((one) => one.voiceId === decision.voiceId);
      if (voice !== undefined) return { model, voice };
    }
    throw new AppError('TTS_UNAVAILABLE', { reason: 'language' });
  }

  async function say({ model, voice }: Speaking, phrase: Phrase, speed: number, signal: AbortSignal) {
    const leave = await engine.turnstiles.speak.enter(signal);
    try {
      await engine.load('speak', model, signal);
      const params = { model: keyOf(model), text: phrase.text, speed, voice: voice.voiceId, accent: accentOf(voice) };
      return await client.call('tts.speak', params, { signal, deadline: { stage: 'speak', ms: SPEAK_MS } });
    } catch (error) {
      if (isAppError(error, 'TEXT_UNSPEAKABLE')) return null;
      throw error;
    } finally {
      leave();
    }
  }

  return {
    voices: () => slots.usable('speak').flatMap(({ voices }) => voices),
    async ready({ signal }) {
      const { model, sampleRate } = await engine.load('speak', slots.chosen('speak'), signal);
      if (sampleRate === null) throw new AppError('TTS_UNAVAILABLE', { reason: 'shape-mismatch' });
      return { modelId: model.modelId, sampleRate };
    },
    async *speak(request, { signal }): AsyncGenerator<SpokenPhrase, void, void> {
      const speaking = chosen(request);
      const left = new AbortController();
      const stop = AbortSignal.any([signal, left.signal]);
      const speak = (phrase: Phrase) => {
        const made = say(speaking, phrase, request.speed ?? 1, stop);
        // Waited for when its turn comes; whoever leaves before that does not ask.
        made.catch(() => {});
        return { phrase, made };
      };
      const phrases = phrasesOf(request.text, request.language?.split('-')[0]?.toLowerCase() ?? speaking.model.languages[0] ?? 'en');
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

function accentOf({ locale }: ModelVoice): 'en-us' | 'en-gb' {
  return locale === 'en-GB' ? 'en-gb' : 'en-us';
}
