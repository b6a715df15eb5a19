import { draftOf } from './draft.ts';
import type { Rule } from './rule.ts';
import { answerRules } from './rulesAnswer.ts';
import { baseRules } from './rulesBase.ts';
import { listenRules } from './rulesListen.ts';
import type { VoiceEffect, VoiceInput, VoiceState } from './state.ts';

/** Table 4.2 of the voice page, but for row 52. */
export const voiceRules: readonly Rule[] = [...baseRules, ...listenRules, ...answerRules];

/** `rows`: the rows that took the input and what it set free; row 52 is "ignored and counted". */
export type VoiceStep = { readonly state: VoiceState; readonly effects: readonly VoiceEffect[]; readonly rows: readonly number[] };

/**
 * The life of spoken turns as a pure function (voice page, section 4): no clock, no I/O, no sound inside, and it never throws.
 *
 * @param now  monotonic ms, never less than in the step before.
 */
export function reduceVoice(before: VoiceState, input: VoiceInput, now: number): VoiceStep {
  const first = once(before, input, now);
  if (before.phase !== 'committing' || first.state.phase === 'committing' || first.state.deferred.length === 0) return first;
  // What came while the turn was committed happened in the state that followed, at its own time.
  let state: VoiceState = { ...first.state, deferred: [] };
  const effects = [...first.effects];
  const rows = [...first.rows];
  for (const waiting of first.state.deferred) {
    const step = once(state, waiting.input, waiting.atMs);
    state = step.state;
    effects.push(...step.effects);
    rows.push(...step.rows);
  }
  return { state, effects, rows };
}

function once(before: VoiceState, input: VoiceInput, now: number): VoiceStep {
  if (isStale(before, input)) return ignore(before, input);
  const state = noteTimers(noteSpeech(before, input, now), input);
  const rule = voiceRules.find((each) => each.takes(state, input, now));
  if (rule === undefined) return ignore(state, input);
  const draft = draftOf(state, now);
  rule.apply(draft, input);
  return { state: draft.s, effects: draft.effects, rows: [rule.row] };
}

/** Row 52. */
function ignore(state: VoiceState, input: VoiceInput): VoiceStep {
  return { state: { ...state, ignored: state.ignored + 1 }, effects: refusalOf(state, input), rows: [52] };
}

function refusalOf(state: VoiceState, input: VoiceInput): VoiceEffect[] {
  if (input.type === 'say' || (input.type === 'keyDown' && input.key === 'dictate')) return [{ do: 'refuse', code: 'VOICE_BUSY' }];
  // Leases that come after the wait ended belong to nobody.
  if (input.type === 'armed' && !(state.leased && input.lease === state.lease)) return [{ do: 'releaseLeases', lease: input.lease }];
  return [];
}

/** Inputs that speak of an utterance, turn, lease or timer that is no more, or of a microphone that is closed. */
export function isStale(s: VoiceState, input: VoiceInput): boolean {
  switch (input.type) {
    case 'armed':
    case 'armFailed':
      return input.lease !== s.lease;
    case 'speechStart':
    case 'speechActive':
    case 'speechPause':
    case 'blip':
    case 'wake':
    case 'micSilent':
      return !s.micOpen;
    case 'wakeRejected':
    case 'endOfTurn':
    case 'partial':
    case 'final':
    case 'asrFailed':
    case 'words':
    case 'backchannel':
      return !s.asrOpen || input.utterance !== s.utterance;
    case 'firstSound':
    case 'toolCall':
      return s.turn === null || input.turn !== s.turn.id;
    case 'replyDone':
    case 'turnParked':
      return s.turn === null || input.turn !== s.turn.id || s.turn.status === 'ended';
    case 'replyFailed':
      return input.turn !== s.playing?.id && (s.turn === null || input.turn !== s.turn.id || s.turn.status === 'ended');
    case 'drained':
      return input.turn !== (s.playing ?? s.turn)?.id;
    case 'turnResumed':
      return input.turn < 1 || input.turn > s.turnNumber;
    case 'timer':
      return s.timers[input.name] !== input.id;
    case 'arm':
    case 'disarm':
    case 'muteOn':
    case 'muteOff':
    case 'mode':
    case 'keyDown':
    case 'keyUp':
    case 'say':
    case 'cancel':
    case 'deviceChanged':
    case 'deviceLost':
    case 'engineLost':
    case 'memoryDisarm':
    case 'pageGone':
    case 'stopWord':
      return false;
  }
}

/** Whether someone speaks is true in every state, whichever row takes the event. */
function noteSpeech(s: VoiceState, input: VoiceInput, now: number): VoiceState {
  switch (input.type) {
    case 'speechStart':
    case 'speechActive':
      return { ...s, speechOn: true, lastVoicedMs: now };
    case 'speechPause':
      return { ...s, speechOn: false, lastVoicedMs: now - Math.max(0, input.pauseMs) };
    case 'blip':
      return { ...s, speechOn: false };
    default:
      return s;
  }
}

/** A timer that has run is running no more. */
function noteTimers(s: VoiceState, input: VoiceInput): VoiceState {
  if (input.type !== 'timer') return s;
  const { [input.name]: _, ...rest } = s.timers;
  return { ...s, timers: rest };
}
