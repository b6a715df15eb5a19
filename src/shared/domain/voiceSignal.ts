/**
 * What a microphone gives, judged (VO-05, VO-06, VO-14, UX-115). Levels are dBFS of the root mean square: a full-scale square wave is 0,
 * a full-scale sine −3; `null` = nothing at all (only zeros, or no samples).
 */
export const signalLimits = {
  /** A sample this near to full scale counts as clipped. */
  clippedFrom: 0.999,
  /** One sample at full scale is a click; so many in a row are a wave with its top cut off. */
  clippedRun: 3,
  /** VO-06: exact zeros for so long = no sound comes from the device. */
  zerosMs: 1_500,
  noFramesMs: 3_000,
  /** VO-14. */
  gateLevel: 0.003,
  gateOverFloor: 3,
  /** Noise floor: the quietest of the last 3 s, since a pause for breath comes within that time. */
  floorMs: 3_000,
  /** A frame that is quieter than this is silence for a person's ear and for the recogniser alike (−60 dBFS noise, BC-19). */
  silentRms: 0.001,
} as const;

export type FrameSignal = {
  readonly rms: number;
  readonly peak: number;
  /** Every sample is exactly zero: what a muted or dead device gives, and a live one never does. */
  readonly zeros: boolean;
  readonly clipped: boolean;
  /** Samples that were not finite; they count as 0. */
  readonly notFinite: number;
};

/** What a level meter shows of one frame (UX-115). Levels are linear, 0…1; `floor` of the room is `null` while it is not known. */
export type Level = Pick<FrameSignal, 'rms' | 'peak' | 'zeros' | 'clipped'> & { readonly floor: number | null };

/**
 * Measures one frame. Never throws.
 *
 * @param samples  Float32Array[n], one channel, −1…1; not changed. A constant offset is taken off before the level is measured (VO-05).
 */
export function measureFrame(samples: Float32Array): FrameSignal {
  let [sum, peak, notFinite, run, longestRun] = [0, 0, 0, 0, 0];
  let zeros = true;
  for (const raw of samples) {
    if (!Number.isFinite(raw)) notFinite += 1;
    const sample = finite(raw);
    if (sample !== 0) zeros = false;
    sum += sample;
    peak = Math.max(peak, Math.abs(sample));
    run = Math.abs(sample) >= signalLimits.clippedFrom ? run + 1 : 0;
    longestRun = Math.max(longestRun, run);
  }
  const mean = samples.length === 0 ? 0 : sum / samples.length;
  let power = 0;
  for (const raw of samples) power += (finite(raw) - mean) ** 2;
  const rms = samples.length === 0 ? 0 : Math.sqrt(power / samples.length);
  return { rms, peak, zeros, clipped: longestRun >= signalLimits.clippedRun, notFinite };
}

const finite = (sample: number) => (Number.isFinite(sample) ? Math.min(1, Math.max(-1, sample)) : 0);

/** @returns dBFS, `null` for nothing at all. */
export function dbfs(level: number): number | null {
  return level > 0 ? 20 * Math.log10(level) : null;
}

/** What is known of the signal after some frames. `floor` is an rms; `null` = not known yet. */
export type SignalState = {
  /** The least rms of each of the last blocks of frames, the newest last. */
  readonly blocks: readonly number[];
  readonly blockFrames: number;
  /** Time without a sample that is not zero. */
  readonly zerosMs: number;
  /** A sample that is not zero came since the start (VO-07). */
  readonly soundArrived: boolean;
  readonly clippedFrames: number;
  readonly frames: number;
};

export const initialSignal: SignalState = { blocks: [], blockFrames: 0, zerosMs: 0, soundArrived: false, clippedFrames: 0, frames: 0 };

const blocks = 10;

/**
 * Takes one more frame into account.
 *
 * @param frameMs  its length.
 */
export function followSignal(state: SignalState, frame: FrameSignal, frameMs: number): SignalState {
  const framesPerBlock = Math.max(1, Math.round(signalLimits.floorMs / blocks / frameMs));
  const counts = {
    zerosMs: frame.zeros ? state.zerosMs + frameMs : 0,
    soundArrived: state.soundArrived || !frame.zeros,
    clippedFrames: state.clippedFrames + (frame.clipped ? 1 : 0),
    frames: state.frames + 1,
  };
  // Zeros are no room: they would pull the floor to nothing.
  if (frame.zeros) return { ...state, ...counts };
  const isNew = state.blocks.length === 0 || state.blockFrames >= framesPerBlock;
  const last = state.blocks.at(-1) ?? frame.rms;
  const kept = isNew ? [...state.blocks, frame.rms].slice(-blocks) : [...state.blocks.slice(0, -1), Math.min(last, frame.rms)];
  return { ...counts, blocks: kept, blockFrames: isNew ? 1 : state.blockFrames + 1 };
}

/** Noise floor as rms: the least of the last 3 s. `null`: no sound came yet. */
export function noiseFloor(state: SignalState): number | null {
  return state.blocks.length === 0 ? null : Math.min(...state.blocks);
}

/** The level gate of VO-14: it drives the meter and pre-warms models, and never decides that someone speaks. */
export function passesGate(rms: number, floor: number | null): boolean {
  return rms > Math.max(signalLimits.gateLevel, signalLimits.gateOverFloor * (floor ?? 0));
}

/** Why no sound counts as coming from a device (VO-06); `null`: it does. @param silentForMs  time since the last frame, or the opening. */
export function whySilent(state: SignalState, silentForMs: number): 'zeros' | 'no-frames' | null {
  if (silentForMs >= signalLimits.noFramesMs) return 'no-frames';
  return state.zerosMs >= signalLimits.zerosMs ? 'zeros' : null;
}

export type LevelWord = 'none' | 'silent' | 'low' | 'good' | 'loud' | 'clipped';

/** One word for the meter (UX-115). Speech at arm's length lies between −35 and −10 dBFS; the recogniser wants gain below −40. */
export function levelWord(frame: Pick<FrameSignal, 'rms' | 'zeros' | 'clipped'>): LevelWord {
  if (frame.zeros) return 'none';
  if (frame.clipped) return 'clipped';
  if (frame.rms < signalLimits.silentRms) return 'silent';
  const level = dbfs(frame.rms) ?? -Infinity;
  return level < -40 ? 'low' : level > -8 ? 'loud' : 'good';
}
