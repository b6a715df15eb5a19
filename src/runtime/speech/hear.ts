import { AppError } from '../../shared/errors/appError.ts';
import type { SpeechToText, Verdict } from '../inference/speechToText.ts';
import type { Vad, VadModel } from '../inference/vad.ts';
import type { Stretch } from './cuts.ts';

const RATE = 16_000;
const FRAME = 512;
const FRAMES_AT_ONCE = 1_000;
const MIN_SECONDS = 0.1;
/** Room sound that stays around speech: tighter cuts cost words (speech facts, section 3). */
const BEFORE = 0.2 * RATE;
const AFTER = 0.2 * RATE;
/** A pause this long ends a stretch. A live conversation waits less; a recording gains by longer context. */
const PAUSE_FRAMES = 25;
/** Less than 100 ms of speech in a stretch is a click. */
const MIN_FRAMES = 3;

export type HeardSegment = { readonly text: string; readonly startMs: number; readonly endMs: number; readonly verdict: Verdict };
export type Heard = {
  readonly text: string;
  readonly language: string;
  readonly durationMs: number;
  readonly segments: readonly HeardSegment[];
  /** Which model decided where speech is. */
  readonly activityModel: string;
};

/**
 * A recording as text: where somebody speaks by the activity model, what by the recogniser.
 *
 * @param samples  16 kHz mono, −1…1.
 * @throws AppError AUDIO_TOO_SHORT, INVALID_AUDIO, VAD_UNAVAILABLE, ASR_UNAVAILABLE, ENGINE_*, CANCELLED.
 */
export async function hear(
  deps: { vad: Vad; speechToText: SpeechToText },
  samples: Float32Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<Heard> {
  if (samples.length < MIN_SECONDS * RATE) throw new AppError('AUDIO_TOO_SHORT');
  // Asked first: who has no recogniser should not wait for the activity model.
  const { languages } = await deps.speechToText.ready({ signal });
  const { model, probabilities } = await activityOf(deps.vad, samples, signal);
  const segments: HeardSegment[] = [];
  for (const { start, end } of stretchesOf(probabilities, model, samples.length)) {
    const { text, verdict } = await deps.speechToText.transcribe(samples.slice(start, end), { signal, speech: true });
    segments.push({ text, verdict, startMs: Math.round((1000 * start) / RATE), endMs: Math.round((1000 * end) / RATE) });
  }
  return {
    text: segments.flatMap(({ text }) => (text === '' ? [] : [text])).join(' '),
    language: languages[0] ?? 'und',
    durationMs: Math.round((1000 * samples.length) / RATE),
    segments,
    activityModel: model.modelId,
  };
}

async function activityOf(vad: Vad, samples: Float32Array<ArrayBuffer>, signal: AbortSignal) {
  const frames = Math.ceil(samples.length / FRAME);
  const padded = new Float32Array(frames * FRAME);
  padded.set(samples);
  const stream = await vad.open({ signal });
  try {
    const probabilities: number[] = [];
    for (let from = 0; from < frames; from += FRAMES_AT_ONCE) {
      const chunk = padded.slice(from * FRAME, (from + FRAMES_AT_ONCE) * FRAME);
      probabilities.push(...(await stream.probabilities(chunk, { signal })));
    }
    return { model: stream.model, probabilities };
  } finally {
    await stream.close();
  }
}

/**
 * Where somebody speaks: from the onset threshold on until 0.8 s below the offset one, with 0.2 s around it.
 *
 * @param probabilities  one per frame of 512 samples.
 * @param length         of the sound, in samples.
 */
export function stretchesOf(probabilities: readonly number[], model: Pick<VadModel, 'onset' | 'offset'>, length: number): Stretch[] {
  const found: Stretch[] = [];
  let first: number | null = null;
  let last = 0;
  let voiced = 0;
  const end = () => {
    if (first !== null && voiced >= MIN_FRAMES) {
      const start = Math.max(found.at(-1)?.end ?? 0, first * FRAME - BEFORE);
      found.push({ start, end: Math.min(length, (last + 1) * FRAME + AFTER) });
    }
    first = null;
    voiced = 0;
  };
  for (const [frame, probability] of probabilities.entries()) {
    const speaks = first === null ? probability >= model.onset : probability >= model.offset;
    if (speaks) {
      first ??= frame;
      last = frame;
      voiced += 1;
    } else if (first !== null && frame - last >= PAUSE_FRAMES) end();
  }
  end();
  return found;
}
