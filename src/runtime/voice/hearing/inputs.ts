import type { VoiceInput } from '../turn/state.ts';
import type { SegmentEvent } from './segments.ts';

/** VO-37: so surely, for so many frames, somebody has to speak before our own answer pauses; more of both after false holds. */
const gates = { usual: { from: 0.6, frames: 3 }, afterFalseHolds: { from: 0.75, frames: 6 }, falseHolds: 3 } as const;

/** @param probabilities  the newest ones, oldest first. */
export function gateOf(probabilities: readonly number[], falseHolds: number): boolean {
  const { from, frames } = falseHolds >= gates.falseHolds ? gates.afterFalseHolds : gates.usual;
  return probabilities.length >= frames && probabilities.slice(-frames).every((probability) => probability >= from);
}

/**
 * What the reducer is told of who speaks.
 *
 * @param at.sinceVoicedMs  by the clock, since the last voiced frame came: a model that is late makes a pause no shorter.
 * @returns null for an end that the reducer's own timers find.
 */
export function inputOf(
  event: SegmentEvent,
  at: { probabilities: readonly number[]; falseHolds: number; sinceVoicedMs: number },
): VoiceInput | null {
  const gate = gateOf(at.probabilities, at.falseHolds);
  switch (event.type) {
    case 'speech-start':
      return { type: 'speechStart', probability: event.probability, gate };
    case 'speech-active':
      return { type: 'speechActive', gate };
    case 'speech-pause':
      return { type: 'speechPause', pauseMs: Math.max(event.pauseDurationMs, at.sinceVoicedMs) };
    case 'blip':
      return { type: 'blip' };
    case 'speech-end':
      return null;
  }
}
