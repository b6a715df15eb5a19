import type { Accent } from './phonemizer.ts';

/** One phrase to be said. */
export type Utterance = {
  readonly text: string;
  /** 0.5…2. */
  readonly speed: number;
  /** Left out: the model's first one. */
  readonly voice?: string | undefined;
  readonly accent: Accent;
};

export type Spoken = {
  /** Mono, −1…1, without the silence around it, faded at both ends. */
  readonly samples: Float32Array;
  /** Length of what the model made, with its silence: what the real-time factor counts against (speech facts, section 6). */
  readonly madeMs: number;
};

/** A speaking model that is loaded. */
export type Speaker = {
  readonly sampleRate: number;
  /** @throws AppError TEXT_UNSPEAKABLE, VOICE_UNKNOWN, MODEL_FILE_CORRUPT, CANCELLED. */
  speak(what: Utterance, isCancelled: () => boolean): Promise<Spoken>;
  dispose(): Promise<void>;
};
