import { speechLimits, type TranscribeResult } from '../../engine/contract/speech.ts';
import { AppError } from '../../shared/errors/appError.ts';
import { pieceSeconds, type SpeechToText, type Transcript, type Verdict } from '../inference/speechToText.ts';
import type { Clock } from '../platform/ports.ts';
import { cutAtQuiet } from '../speech/cuts.ts';
import type { EngineClient } from './engineClient.ts';
import { createLiveTranscription, type Decode } from './liveTranscription.ts';
import type { SpeechEngine } from './speechEngine.ts';
import type { SpeechSlots } from './speechPorts.ts';

const DECODE_MS = 60_000;
const { sampleRate, minSoundSeconds } = speechLimits;

/** The recogniser on this machine. */
export function createLocalSpeechToText(deps: {
  client: EngineClient;
  engine: SpeechEngine;
  slots: SpeechSlots;
  clock: Clock;
}): SpeechToText {
  const { client, engine, slots, clock } = deps;
  const load = (signal: AbortSignal) => engine.load('listen', slots.chosen('listen'), signal);

  const decode: Decode = async (samples, { signal, speech, draft }) => {
    const leave = await engine.turnstiles.listen.enter(signal);
    try {
      await load(signal);
      return await client.call(
        'asr.transcribe',
        { samples, speech, draft: [...draft] },
        { signal, deadline: { stage: 'decode', ms: DECODE_MS } },
      );
    } finally {
      leave();
    }
  };

  async function language(signal: AbortSignal): Promise<string> {
    return (await load(signal)).model.languages[0] ?? 'und';
  }

  return {
    async ready({ signal }) {
      const { model } = await load(signal);
      return { modelId: model.modelId, languages: model.languages };
    },
    async transcribe(samples, { signal, speech }) {
      if (samples.length < minSoundSeconds * sampleRate) throw new AppError('AUDIO_TOO_SHORT');
      const results: TranscribeResult[] = [];
      for (const { start, end } of cutAtQuiet(samples, sampleRate, pieceSeconds.from, pieceSeconds.max)) {
        // What a cut leaves over may be too short to be anything.
        if (end - start < minSoundSeconds * sampleRate) continue;
        results.push(await decode(samples.slice(start, end), { signal, speech, draft: [] }));
      }
      return transcriptOf(results, samples.length, await language(signal));
    },
    open: (options) =>
      createLiveTranscription({
        ...options,
        clock,
        decode,
        finished: async (results, length) => transcriptOf(results, length, await language(options.signal)),
      }),
  };
}

const worst: readonly Verdict[] = ['unsure', 'ok', 'unintelligible', 'no-speech'];

/** Several pieces of one utterance as one. */
function transcriptOf(results: readonly TranscribeResult[], length: number, language: string): Transcript {
  const tokens = results.reduce((sum, result) => sum + (result.text === '' ? 0 : result.tokens.length), 0);
  const weighted = results.reduce((sum, result) => sum + (result.text === '' ? 0 : result.averageLogProb * result.tokens.length), 0);
  return {
    text: results.flatMap(({ text }) => (text === '' ? [] : [text])).join(' '),
    language,
    verdict: worst.find((verdict) => results.some((result) => result.verdict === verdict)) ?? 'no-speech',
    averageLogProb: tokens === 0 ? 0 : weighted / tokens,
    noSpeechProb: results.reduce((least, result) => Math.min(least, result.noSpeechProb), 1),
    words: null,
    durationMs: Math.round((1000 * length) / sampleRate),
  };
}
