/** Sound as it travels between page, runtime and engines (voice page, sections 1 and 15). Samples are mono float32 in −1…1. */
export const audio = {
  /** Of everything that listens. */
  rateHz: 16_000,
  /** One frame: 32 ms. */
  frameSamples: 512,
  ringMs: 1_000,
  preRollMs: 400,
  tailMs: 250,
  /** Exact zeros for this long are no sound. */
  silentMs: 1_500,
  /** No frame at all for this long is none either. */
  noFrameMs: 3_000,
  reopenTries: 3,
  reopenEveryMs: 2_000,
  /** Sound is queued and the loudspeaker takes none of it for this long. */
  noProgressMs: 3_000,
  /** Frames that wait for a slow receiver; older ones are dropped first. */
  waitingFrames: 64,
  /** At or above this a sample counts as clipped. */
  clipAt: 0.999,
  minRateHz: 8_000,
  maxRateHz: 192_000,
  /** A chunk of speech to be played holds at most this much: a phrase of 200 characters at half speed lasts under 30 s. */
  maxChunkMs: 60_000,
} as const;

/** A frame of the microphone. `seq` rises by one per frame that was sent; a number that is missing was lost on the way (VO-02). */
export type AudioFrame = {
  readonly seq: number;
  /** Time of its first sample on the sample clock of this capture: ms of sound since the device was opened. */
  readonly captureMs: number;
  readonly clipped: boolean;
  /** Every sample that came from the device was exactly zero. */
  readonly zero: boolean;
  /** Before this frame, or inside it, sound is missing. */
  readonly gap: boolean;
  /** Float32Array[512]. */
  readonly samples: Float32Array<ArrayBuffer>;
};

/** Where a chunk of speech stands in the written text: UTF-16 units, end exclusive. */
export type TextRange = { readonly from: number; readonly to: number };

/** A piece of speech to be played. Chunks of one phrase follow one another; `last` ends the phrase. */
export type SoundChunk = {
  /** Of the turn; what belongs to an older one than the present is dropped (VO-74). */
  readonly generation: number;
  readonly phrase: number;
  readonly last: boolean;
  readonly range: TextRange;
  readonly rateHz: number;
  readonly pcm: Float32Array<ArrayBuffer>;
};

export const msOf = (samples: number, rateHz: number): number => (samples * 1_000) / rateHz;
export const samplesOf = (ms: number, rateHz: number): number => Math.round((ms * rateHz) / 1_000);
