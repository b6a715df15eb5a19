import { z } from 'zod';

/** States of the turn reducer (voice page, 4.2). `thinking` knows a guarded form: someone speaks and it isn't known yet whether it counts. */
export const VOICE_PHASES = [
  'off',
  'arming',
  'standby',
  'listening',
  'hearing',
  'pausing',
  'committing',
  'thinking',
  'speaking',
  'held',
  'failed',
] as const;
export const VoicePhase = z.enum(VOICE_PHASES);
export type VoicePhase = z.infer<typeof VoicePhase>;

/** A list or table that takes more spoken characters is named and not read (VO-67). */
export const summaryCharacters = 600;

/** UTF-16 units of text that are said in one go. */
export const sayCharacters = 40_000;

export const VoiceMode = z.enum(['push-to-talk', 'hands-free', 'wake-word']);
export type VoiceMode = z.infer<typeof VoiceMode>;

/** How listening began; `interruption` = someone spoke into our answer. */
export const ListeningBy = z.enum(['key', 'wake', 'follow-up', 'hands-free', 'interruption']);
export type ListeningBy = z.infer<typeof ListeningBy>;

export const TalkKeyState = z.enum(['none', 'down', 'latched']);
export type TalkKeyState = z.infer<typeof TalkKeyState>;

/** The word a person sees for each state (VO-107, UX-175). */
export type VoiceWord = 'off' | 'trouble' | 'muted' | 'opening' | 'ready' | 'listening' | 'thinking' | 'speaking' | 'paused';

/** What the line beside "Listening" says. */
export type ListeningForm = 'held' | 'latched' | 'wake' | 'follow-up' | 'hands-free';

/**
 * The one table from state to word (VO-107): the first line that applies counts. Nothing else may decide it.
 *
 * @param view  `soundArrived`: a frame that is not all zeros came since the microphone was opened (VO-07).
 * @returns     the word, and whether the mute sign stands beside it.
 */
export function voiceWord(view: { phase: VoicePhase; muted: boolean; soundArrived: boolean }): { word: VoiceWord; muteSign: boolean } {
  const { phase, muted, soundArrived } = view;
  if (phase === 'off') return { word: 'off', muteSign: false };
  if (phase === 'failed') return { word: 'trouble', muteSign: false };
  if (phase === 'standby' && muted) return { word: 'muted', muteSign: false };
  if (phase === 'arming' || (phase === 'listening' && !soundArrived)) return { word: 'opening', muteSign: false };
  return { word: wordOf[phase], muteSign: muted && (phase === 'thinking' || phase === 'speaking') };
}

const wordOf = {
  standby: 'ready',
  listening: 'listening',
  hearing: 'listening',
  pausing: 'listening',
  committing: 'thinking',
  thinking: 'thinking',
  speaking: 'speaking',
  held: 'paused',
} as const satisfies Record<Exclude<VoicePhase, 'off' | 'failed' | 'arming'>, VoiceWord>;

/** The line beside "Listening"; a key counts before how it began. */
export function listeningForm(key: TalkKeyState, by: ListeningBy): ListeningForm {
  if (key === 'down') return 'held';
  if (key === 'latched') return 'latched';
  switch (by) {
    case 'wake':
    case 'follow-up':
      return by;
    case 'key':
    case 'hands-free':
    case 'interruption':
      return 'hands-free';
  }
}
