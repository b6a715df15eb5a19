import { samplesOf } from '../../shared/domain/audio.ts';

/** What a tone says. Each has a visible twin in the voice bar (UX-129). */
export type ToneKind = 'listening' | 'off' | 'failed' | 'slow';

type Note = { readonly hz: number; readonly fromMs: number; readonly ms: number };

/** Quiet beside speech, which peaks near 0.5: a sign, not an event. */
const loudness = 0.09;
const attackMs = 6;

/** Up = you can talk, down = no longer, low and twice = it failed, one soft note = it takes longer. */
const notes: Record<ToneKind, readonly Note[]> = {
  listening: [
    { hz: 587, fromMs: 0, ms: 90 },
    { hz: 880, fromMs: 70, ms: 130 },
  ],
  off: [
    { hz: 587, fromMs: 0, ms: 90 },
    { hz: 440, fromMs: 70, ms: 130 },
  ],
  failed: [
    { hz: 294, fromMs: 0, ms: 120 },
    { hz: 247, fromMs: 140, ms: 180 },
  ],
  slow: [{ hz: 440, fromMs: 0, ms: 220 }],
};

/**
 * The samples of a tone, made in code: no file is loaded for it.
 *
 * @param rateHz  of the loudspeaker's context.
 * @returns       Float32Array[n], one channel, at most 0.4 s, beginning and ending at zero.
 */
export function makeTone(kind: ToneKind, rateHz: number): Float32Array<ArrayBuffer> {
  const endMs = Math.max(...notes[kind].map(({ fromMs, ms }) => fromMs + ms));
  const pcm = new Float32Array(samplesOf(endMs, rateHz));
  for (const { hz, fromMs, ms } of notes[kind]) {
    const from = samplesOf(fromMs, rateHz);
    const length = samplesOf(ms, rateHz);
    for (let i = 0; i < length && from + i < pcm.length; i += 1) {
      const rise = Math.min(1, i / samplesOf(attackMs, rateHz));
      const fall = (1 - i / length) ** 2;
      pcm[from + i] = (pcm[from + i] ?? 0) + loudness * rise * fall * Math.sin((2 * Math.PI * hz * i) / rateHz);
    }
  }
  return pcm;
}
