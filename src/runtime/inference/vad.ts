/** The activity port: who speaks when. Frames are 512 samples of 16 kHz mono float32 in −1…1 (ABI-10). */
export type Vad = {
  /**
   * Loads the model if it is not: the installed one, or the older one that comes with Sotto when that cannot be loaded (VO-103).
   *
   * @throws AppError VAD_UNAVAILABLE, ENGINE_*, CANCELLED.
   */
  ready(options: { signal: AbortSignal }): Promise<VadModel>;
  /** A stream of frames with a state of its own; at most 8 at a time. @throws AppError as `ready`. */
  open(options: { signal: AbortSignal }): Promise<VadStream>;
};

/** The model that decides, and its thresholds: from `onset` on somebody speaks, below `offset` nobody does. */
export type VadModel = {
  readonly modelId: string;
  readonly onset: number;
  readonly offset: number;
  /** `null`, or why the older model serves: the newer one is not installed, or could not be loaded. */
  readonly spare: 'model-missing' | 'load-failed' | null;
};

export type VadStream = {
  readonly model: VadModel;
  /**
   * One probability of speech per frame, in order. One call at a time.
   *
   * @param samples  one frame, or whole frames up to 32 s.
   * @throws AppError INVALID_AUDIO, ENGINE_*, CANCELLED. After ENGINE_* the stream is over: open a new one.
   */
  probabilities(samples: Float32Array<ArrayBuffer>, options: { signal: AbortSignal }): Promise<Float32Array>;
  /** The next frames follow silence: call it at each segment's end (VO-15). */
  reset(): void;
  close(): Promise<void>;
};
