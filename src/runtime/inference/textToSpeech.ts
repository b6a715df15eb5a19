import type { ModelVoice } from '../../shared/domain/models.ts';

/** The speaking port (VO-63). */
export type TextToSpeech = {
  /** Voices of all that is installed and may speak. */
  voices(): readonly ModelVoice[];
  /** Loads the model if it is not. @throws AppError TTS_UNAVAILABLE, ENGINE_*, CANCELLED. */
  ready(options: { signal: AbortSignal }): Promise<{ readonly modelId: string; readonly sampleRate: number }>;
  /**
   * Speaks phrase by phrase: while one is taken the next is being made, never more. Phrases with nothing to pronounce are left out.
   *
   * @param request.voiceId   left out: the first voice of the pack's own model for the language. Another one is never taken instead (VO-64).
   * @param request.language  language tag of the text, if it is known.
   * @param request.speed     0.5…2.
   * @throws AppError TTS_UNAVAILABLE (also for a language without a voice), VOICE_UNKNOWN, TEXT_UNSPEAKABLE if nothing was spoken, ENGINE_*,
   *   CANCELLED.
   */
  speak(request: SpeakRequest, options: { signal: AbortSignal }): AsyncGenerator<SpokenPhrase, void, void>;
};

export type SpeakRequest = {
  readonly text: string;
  readonly voiceId?: string | undefined;
  readonly language?: string | undefined;
  readonly speed?: number | undefined;
};

export type SpokenPhrase = {
  /** Mono, −1…1, without silence around it, faded at both ends. */
  readonly samples: Float32Array;
  readonly sampleRate: number;
  /** 0 for the first. */
  readonly phrase: number;
  /** Which part of the text it is, in UTF-16 units. */
  readonly textRange: readonly [start: number, end: number];
};
