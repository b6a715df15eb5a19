import { speechLimits } from '../../engine/contract/speech.ts';
import type { ModelLayout, RuntimeClass } from '../../shared/domain/models.ts';
import { AppError } from '../../shared/errors/appError.ts';
import { type EngineClient, loadDeadlineMs } from './engineClient.ts';
import { loadParams } from './speechEngine.ts';

export type SpeechTrial = { readonly runtimeClass: RuntimeClass; readonly layout: ModelLayout; readonly path: string };

const trialPhrase = 'Good morning.';

/**
 * First load of a speech file (RT-09): the load itself lets the model work once; then it works on something that a working one must master.
 *
 * @returns of a speaking model its real-time factor on this machine, of the second time that it says the same (VO-62).
 * @throws AppError MODEL_FILE_CORRUPT, UNSUPPORTED, ENGINE_*, CANCELLED.
 */
export async function trialOf(probe: EngineClient, what: SpeechTrial, signal: AbortSignal): Promise<{ speedFactor: number } | undefined> {
  const params = loadParams(what, what.path);
  const bytes = what.layout.reduce((sum, part) => sum + part.bytes, 0);
  const options = { signal, deadline: { stage: 'trial', ms: loadDeadlineMs(bytes) } };
  const silence = new Float32Array(speechLimits.sampleRate);
  const failed = () => new AppError('MODEL_FILE_CORRUPT', { reason: 'it does not do what it should' });
  switch (params.runtimeClass) {
    case 'silero-v4':
    case 'silero-v5': {
      await probe.call('vad.load', params, options);
      const samples = silence.slice(0, speechLimits.frameSamples * 8);
      const { probabilities } = await probe.call('vad.frames', { stream: 0, samples }, options);
      if (!probabilities.every((probability) => probability >= 0 && probability < 0.5)) throw failed();
      return undefined;
    }
    case 'moonshine': {
      await probe.call('asr.load', params, options);
      const { text } = await probe.call('asr.transcribe', { samples: silence, speech: false }, options);
      if (text !== '') throw failed();
      return undefined;
    }
    case 'piper':
    case 'kokoro': {
      await probe.call('tts.load', params, options);
      await probe.call('tts.speak', { text: trialPhrase }, options);
      const { samples, sampleRate, ms, madeMs } = await probe.call('tts.speak', { text: trialPhrase }, options);
      // Between a quarter of a second and five: it speaks, and it stops.
      if (samples.length < sampleRate / 4 || samples.length > sampleRate * 5) throw failed();
      return { speedFactor: Math.round((ms / madeMs) * 100) / 100 };
    }
  }
}
