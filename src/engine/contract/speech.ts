import { z } from 'zod';

/**
 * Methods of the engine key `speech` (and, for a first load, of `probe`). The word before the dot names the worker that answers: one worker
 * per model, since a run of the library holds its thread. Sound is mono float32 in −1…1; where no rate is named it is 16 kHz.
 */

export const speechLimits = {
  sampleRate: 16_000,
  /** Samples of one activity frame (ABI-10). */
  frameSamples: 512,
  /** Frames that one call may hold: 32 s. A live caller sends one. */
  framesAtOnce: 1_000,
  /** Streams of activity with a state of their own at one time. */
  activityStreams: 8,
  /** What the recogniser takes at once; beyond 35 s it makes up a tail (speech facts, section 1). */
  maxSoundSeconds: 30,
  /** VO-59: less is no sound to recognise. */
  minSoundSeconds: 0.1,
  maxPhraseCharacters: 400,
  /** Speaking models that stay loaded side by side. */
  speakersAtOnce: 2,
  draftTokens: 256,
} as const;

const sound = (min: number, max: number) =>
  z.instanceof(Float32Array).refine((samples) => samples.length >= min && samples.length <= max, { error: 'length' });

/** A part of a model file: several files of a model lie in one, one after the other (catalogue, `layout`). */
export const FileSlice = z.strictObject({ path: z.string().min(1), offset: z.int().min(0), bytes: z.int().positive() });
export type FileSlice = z.infer<typeof FileSlice>;

/** Which parts there must be is known by the adapter of the runtime class. */
export const SpeechLoadParams = z.strictObject({
  runtimeClass: z.enum(['silero-v4', 'silero-v5', 'moonshine', 'piper', 'kokoro']),
  files: z.record(z.string(), FileSlice),
});
export type SpeechLoadParams = z.infer<typeof SpeechLoadParams>;

/** Replaces what this worker had loaded; a first run that sets up the library's buffers is part of it. */
const loaded = z.strictObject({ loadMs: z.number() });

export const ActivityParams = z.strictObject({
  /** A number of the caller's. Its first frames begin from silence; `restart` begins anew. */
  stream: z.int().min(0),
  restart: z.boolean().default(false),
  samples: sound(speechLimits.frameSamples, speechLimits.frameSamples * speechLimits.framesAtOnce).refine(
    (samples) => samples.length % speechLimits.frameSamples === 0,
    { error: 'whole frames' },
  ),
});
export type ActivityParams = z.infer<typeof ActivityParams>;

export const TranscribeParams = z.strictObject({
  samples: sound(Math.ceil(speechLimits.minSoundSeconds * speechLimits.sampleRate), speechLimits.maxSoundSeconds * speechLimits.sampleRate),
  /** The activity model heard speech: an empty answer is then not taken (speech facts, section 3). */
  speech: z.boolean(),
  /** Tokens of an earlier answer for a beginning of the same sound. Cheaper, not bit-exact: for partial answers only. */
  draft: z.array(z.int().min(3).max(32_767)).max(speechLimits.draftTokens).default([]),
});
export type TranscribeParams = z.infer<typeof TranscribeParams>;

export const TranscribeResult = z.strictObject({
  /** Empty unless the verdict is `ok` or `unsure`. */
  text: z.string(),
  tokens: z.array(z.int()),
  /** `no-speech`: the model is sure that nobody spoke. `unintelligible`: it went astray (too unlikely, or too long for the sound). */
  verdict: z.enum(['ok', 'unsure', 'no-speech', 'unintelligible']),
  /** Mean natural logarithm of the chosen tokens' probabilities; 0 when there are none. */
  averageLogProb: z.number(),
  /** Probability that the sound holds no words, by the first step. */
  noSpeechProb: z.number(),
  end: z.enum(['end', 'cap', 'loop', 'silence']),
  acceptedDraft: z.int(),
  ms: z.number(),
});
export type TranscribeResult = z.infer<typeof TranscribeResult>;

/**
 * Which of the loaded speaking models: a name of the caller's. Two stay loaded, so that two voices can be compared; one that still is does not
 * load again. Without a name there is one, loaded anew each time.
 */
const ttsModel = z.string().max(256).default('');

export const speechMethods = {
  'vad.load': { params: SpeechLoadParams, chunk: z.never(), result: loaded },
  'vad.frames': {
    params: ActivityParams,
    chunk: z.never(),
    /** One probability of speech per frame. */
    result: z.strictObject({ probabilities: z.instanceof(Float32Array) }),
  },
  'vad.close': { params: z.strictObject({ stream: z.int().min(0) }), chunk: z.never(), result: z.strictObject({}) },
  'asr.load': { params: SpeechLoadParams, chunk: z.never(), result: loaded },
  'asr.transcribe': { params: TranscribeParams, chunk: z.never(), result: TranscribeResult },
  'tts.load': {
    params: SpeechLoadParams.extend({ model: ttsModel, phonemizer: z.enum(['espeak-ng', 'phonemize']).default('espeak-ng') }),
    chunk: z.never(),
    result: loaded.extend({ sampleRate: z.int() }),
  },
  /** One phrase. Cancelling takes effect between the steps; the model's own run is not interrupted. */
  'tts.speak': {
    params: z.strictObject({
      /** As it was loaded. */
      model: ttsModel,
      text: z.string().min(1).max(speechLimits.maxPhraseCharacters),
      speed: z.number().min(0.5).max(2).default(1),
      /** Of the model's voices; left out: its first one. */
      voice: z.string().min(1).max(64).optional(),
      accent: z.enum(['en-us', 'en-gb']).default('en-us'),
    }),
    chunk: z.never(),
    result: z.strictObject({
      samples: z.instanceof(Float32Array),
      sampleRate: z.int(),
      /** How long it took, and how long what the model made lasts with its silence: their ratio is the real-time factor. */
      ms: z.number(),
      madeMs: z.number(),
    }),
  },
} as const;
