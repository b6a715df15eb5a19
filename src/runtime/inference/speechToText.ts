/**
 * Longer utterances are read in pieces, cut where it is quiet between these. Windows of 10 to 35 s are good, at 40 s the model of the
 * starter pack invents a tail (speech facts, section 1); cuts at 15 s cost 1.7 points of words at 5 dB. Seconds.
 */
export const pieceSeconds = { from: 15, max: 24 } as const;

/** The recognition port (VO-54, VO-57). Sound is 16 kHz mono float32 in −1…1. */
export type SpeechToText = {
  /** Loads the model if it is not. @throws AppError ASR_UNAVAILABLE, ENGINE_*, CANCELLED. */
  ready(options: { signal: AbortSignal }): Promise<{ readonly modelId: string; readonly languages: readonly string[] }>;
  /**
   * Recognises one utterance. Longer ones are cut where they are quiet, `pieceSeconds` apart.
   *
   * @param options.speech  the activity model heard speech in it; an empty answer is then doubted.
   * @throws AppError AUDIO_TOO_SHORT below 0.1 s, INVALID_AUDIO, ASR_UNAVAILABLE, ENGINE_*, CANCELLED.
   */
  transcribe(samples: Float32Array<ArrayBuffer>, options: { signal: AbortSignal; speech: boolean }): Promise<Transcript>;
  /**
   * An utterance while it is spoken. A model that can't choose among languages, or take hints, goes on without them.
   *
   * @param options.languages  that may come, the likeliest first (VO-56).
   * @param options.hints      words that the person uses (VO-99).
   */
  open(options: {
    signal: AbortSignal;
    onPartial: (partial: PartialTranscript) => void;
    languages?: readonly string[];
    hints?: readonly string[];
  }): LiveTranscription;
};

/** `no-speech`: nobody spoke. `unintelligible`: the words were not to be trusted and are not given. `unsure`: ask again before acting. */
export type Verdict = 'ok' | 'unsure' | 'no-speech' | 'unintelligible';

export type Transcript = {
  /** Empty unless the verdict is `ok` or `unsure`. */
  readonly text: string;
  readonly language: string;
  /** Of the worst part that has words; without any, of the best of the others. */
  readonly verdict: Verdict;
  /** Mean natural logarithm of the tokens' probabilities, over all parts with words. */
  readonly averageLogProb: number;
  /** The engine's own probability that nobody spoke (VO-58 c): the least of all parts. */
  readonly noSpeechProb: number;
  /** This model gives no word times, and none are made up. */
  readonly words: null;
  readonly durationMs: number;
};

/** `stable`: the beginning of `text` that two readings in a row agreed on. */
export type PartialTranscript = { readonly text: string; readonly stable: string };

export type LiveTranscription = {
  /** The next samples. Call it while somebody speaks; partial readings follow as the machine keeps up. */
  feed(samples: Float32Array): void;
  /** Ends the utterance and reads it once more without drafts. @throws as `transcribe`. */
  finish(options: { speech: boolean }): Promise<Transcript>;
  /** Gives it up; nothing is reported any more. */
  close(): void;
};
