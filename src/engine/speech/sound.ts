import { AppError } from '../../shared/errors/appError.ts';
import { speechLimits } from '../contract/speech.ts';

/** Below this peak nothing was recorded: amplifying it would only make noise of rounding errors. −80 dBFS. */
const SILENT_PEAK = 1e-4;
const PEAK = 0.9;
/** −60 dBFS: what a quiet room leaves in a recording. Exact zeros around a word cost more words than they save. */
const NOISE = 1e-3;

export type PreparedSound = {
  readonly samples: Float32Array;
  /** Of the sound that was given. */
  readonly seconds: number;
  /** Nothing in it is loud enough to be a voice. */
  readonly silent: boolean;
};

/**
 * Sound as the recogniser hears best: no constant offset, peak 0.9, and low noise before and after up to a second (speech facts, section 3).
 * The same sound gives the same result.
 *
 * @param input  16 kHz mono, not changed.
 * @throws AppError INVALID_AUDIO if a sample is not a finite number.
 */
export function prepareSound(input: Float32Array): PreparedSound {
  checkFinite(input);
  const { sampleRate } = speechLimits;
  let sum = 0;
  for (const value of input) sum += value;
  const mean = sum / Math.max(1, input.length);
  let peak = 0;
  for (const value of input) peak = Math.max(peak, Math.abs(value - mean));
  const seconds = input.length / sampleRate;
  const length = Math.max(sampleRate, input.length);
  const samples = new Float32Array(length);
  const before = Math.floor((length - input.length) / 2);
  const gain = peak < SILENT_PEAK ? 0 : PEAK / peak;
  const noise = createNoise();
  for (let i = 0; i < length; i += 1) {
    const at = i - before;
    samples[i] = at >= 0 && at < input.length ? ((input[at] ?? 0) - mean) * gain : noise() * NOISE;
  }
  return { samples, seconds, silent: peak < SILENT_PEAK };
}

/** @throws AppError INVALID_AUDIO. */
export function checkFinite(samples: Float32Array): void {
  for (const value of samples) if (!Number.isFinite(value)) throw new AppError('INVALID_AUDIO', { reason: 'a sample is not a number' });
}

/** Repeatable white noise in −1…1. @source Numerical Recipes, quick linear congruential generator */
function createNoise(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 0x8000_0000 - 1;
  };
}

/** How a spoken phrase is cut: silence around it goes, joins do not click. */
const LOUD = 0.01;
const KEEP_SECONDS = 0.03;
const FADE_SECONDS = 0.005;

/**
 * Takes the silence off both ends, but for 30 ms, and fades 5 ms in and out (speech facts, section 6; VO-63).
 *
 * @returns a new array; empty if nothing in it is loud.
 */
export function trimPhrase(samples: Float32Array, sampleRate: number): Float32Array {
  const isLoud = (value: number) => Math.abs(value) > LOUD;
  const first = samples.findIndex(isLoud);
  if (first < 0) return new Float32Array(0);
  const keep = Math.round(KEEP_SECONDS * sampleRate);
  const out = samples.slice(Math.max(0, first - keep), samples.findLastIndex(isLoud) + 1 + keep);
  const fade = Math.min(Math.round(FADE_SECONDS * sampleRate), Math.floor(out.length / 2));
  for (let i = 0; i < out.length; i += 1) {
    const edge = Math.min(i, out.length - 1 - i);
    const gain = edge < fade ? edge / fade : 1;
    out[i] = Math.max(-1, Math.min(1, out[i] ?? 0)) * gain;
  }
  return out;
}
