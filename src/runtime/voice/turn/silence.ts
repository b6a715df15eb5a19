import { voiceLimits as limits } from '../limits.ts';
import type { VoiceSettings } from './state.ts';

/**
 * How long nobody has to speak before the turn ends by itself (VO-24, numbers of section 15), from the last voiced frame on.
 *
 * @param probability  that the turn is over; `null`: nothing is there to ask. What is not finite counts as 0.5 (VO-21).
 * @returns            ms, at most the ceiling.
 */
export function neededSilenceMs(probability: number | null, settings: Pick<VoiceSettings, 'ownPauseMs'>): number {
  const base = probability === null ? limits.silenceWithoutDetectorMs : byProbability(Number.isFinite(probability) ? probability : 0.5);
  return Math.min(limits.silenceCeilingMs, Math.max(base, settings.ownPauseMs * limits.ownPauseFactor));
}

function byProbability(probability: number): number {
  return limits.silence.find((step) => probability >= step.from)?.ms ?? limits.silence[limits.silence.length - 1]?.ms ?? 0;
}
