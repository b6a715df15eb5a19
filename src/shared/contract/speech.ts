import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { ModelId } from '../domain/ids.ts';
import { sayCharacters } from '../domain/voice.ts';
import { SpeakingVoice } from '../domain/voiceCatalogue.ts';
import { errors } from './errors.ts';

/** Seconds of sound that one call takes; a caller with more cuts it where it is quiet. */
export const transcribeSeconds = 30;

const engine = ['ENGINE_STARTING', 'ENGINE_BREAKER_OPEN', 'ENGINE_CRASHED', 'ENGINE_FAULT', 'ENGINE_TIMEOUT', 'ENGINE_PROTOCOL'] as const;
const busy = ['TOO_MANY_REQUESTS', 'LOCAL_INFERENCE_UNAVAILABLE', 'RUNTIME_UNAVAILABLE'] as const;

/** Sound to words and back. Sound is base64 of 16-bit little-endian mono PCM: typed arrays do not survive the WebSocket. */
export const speech = {
  /** 16 kHz. */
  transcribe: oc
    .errors(errors('AUDIO_TOO_SHORT', 'INVALID_AUDIO', 'VAD_UNAVAILABLE', 'ASR_UNAVAILABLE', ...engine, ...busy))
    .input(z.strictObject({ pcm: z.base64().max(Math.ceil((transcribeSeconds * 16_000 * 2) / 3) * 4) }))
    .output(
      z.strictObject({
        text: z.string(),
        language: z.string(),
        durationMs: z.int(),
        segments: z.array(
          z.strictObject({
            text: z.string(),
            startMs: z.int(),
            endMs: z.int(),
            verdict: z.enum(['ok', 'unsure', 'no-speech', 'unintelligible']),
          }),
        ),
        activityModel: z.string(),
      }),
    ),
  /** Phrase by phrase, while the next one is made. */
  say: oc
    .errors(errors('TTS_UNAVAILABLE', 'VOICE_UNKNOWN', 'TEXT_UNSPEAKABLE', ...engine, ...busy))
    .input(
      z.strictObject({
        text: z.string().min(1).max(sayCharacters),
        voiceId: z.string().min(1).max(64).optional(),
        language: z.string().min(2).max(35).optional(),
        speed: z.number().min(0.5).max(2).default(1),
        /** The text is an answer as it was written: its marks are spoken or dropped as in talk, lists and tables are read whole (VO-67). */
        written: z.boolean().default(false),
      }),
    )
    .output(
      eventIterator(
        z.strictObject({
          pcm: z.base64(),
          sampleRate: z.int(),
          phrase: z.int(),
          textRange: z.tuple([z.int(), z.int()]),
        }),
      ),
    ),
  /** The voice catalogue (VO-96): installed voices and those that can be had. */
  voices: oc
    .errors(errors())
    .input(
      z.strictObject({
        language: z.string().min(2).max(35).optional(),
        gender: SpeakingVoice.shape.gender.optional(),
        installed: z.boolean().optional(),
        /** Language tag of the person, whose voices come first. */
        first: z.string().min(2).max(35).default('en'),
      }),
    )
    .output(
      z.strictObject({
        voices: z.array(SpeakingVoice),
        /** The pack's own voices that can speak now, one per language (VO-97). */
        standard: z.array(z.string()),
      }),
    ),
  /** Measures how fast a speaking model is on this machine, once more. */
  measure: oc
    .errors(errors('MODEL_NOT_INSTALLED', 'MODEL_FILE_CORRUPT', ...engine, ...busy))
    .input(z.strictObject({ modelId: ModelId }))
    .output(z.strictObject({ speedFactor: z.number().positive() })),
};
