import type { ListeningBy, VoicePhase } from '../../../shared/domain/voice.ts';
import { voiceLimits as limits } from '../limits.ts';
import type { CancelReason, Purpose, TimerName, VoiceEffect, VoiceState } from './state.ts';
import { TIMER_NAMES } from './state.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** One step in the making: a copy of the state that the rows may write to, and what they ask for. */
export type Draft = { readonly s: Mutable<VoiceState>; readonly now: number; readonly effects: VoiceEffect[] };

export function draftOf(state: VoiceState, now: number): Draft {
  return { s: { ...state }, now, effects: [] };
}

/** Nothing is listened to: muted, or a fault waits. */
export const isDeaf = (s: VoiceState): boolean => s.muted || s.fault !== null;

/** VO-106. */
export const mayInterrupt = (s: VoiceState): boolean => s.settings.interruptByVoice[s.mode] && !isDeaf(s);

export const isAtWork = (s: VoiceState): boolean => s.turn?.status === 'work';

export function startTimer(d: Draft, name: TimerName, ms: number): void {
  d.s.timerNumber += 1;
  d.s.timers = { ...d.s.timers, [name]: d.s.timerNumber };
  d.effects.push({ do: 'startTimer', name, id: d.s.timerNumber, ms });
}

export function stopTimer(d: Draft, name: TimerName): void {
  if (d.s.timers[name] === undefined) return;
  const { [name]: _, ...rest } = d.s.timers;
  d.s.timers = rest;
  d.effects.push({ do: 'stopTimer', name });
}

/** Goes to a state. Leaving one stops its timers, except `idle` and `longest` (VO-28). */
export function go(d: Draft, phase: VoicePhase, guarded = false): void {
  if (phase !== d.s.phase || guarded !== d.s.guarded) {
    for (const name of TIMER_NAMES) if (name !== 'idle' && name !== 'longest') stopTimer(d, name);
  }
  d.s.phase = phase;
  d.s.guarded = guarded;
}

export function startLongest(d: Draft): void {
  if (d.s.timers.longest === undefined) startTimer(d, 'longest', limits.longestMs);
}

export function dropWindow(d: Draft): void {
  stopTimer(d, 'window');
  d.s.windowEndsMs = null;
}

/** The idle time of hands-free starts anew (VO-31). */
export function restartIdle(d: Draft): void {
  d.s.idleOver = false;
  if (d.s.mode === 'hands-free' && d.s.armedFor === 'talk') startTimer(d, 'idle', limits.idleMs);
  else stopTimer(d, 'idle');
}

export function openMic(d: Draft): void {
  if (d.s.micOpen || isDeaf(d.s)) return;
  d.s.micOpen = true;
  d.effects.push({ do: 'openMic' });
}

export function closeMic(d: Draft): void {
  d.s.speechOn = false;
  if (!d.s.micOpen) return;
  d.s.micOpen = false;
  d.effects.push({ do: 'closeMic' });
}

export function openAsr(d: Draft, preRollMs: number): void {
  if (d.s.asrOpen) return;
  d.s.utterance += 1;
  d.s.asrOpen = true;
  d.s.partial = { text: '', stable: false };
  d.effects.push({ do: 'openAsr', utterance: d.s.utterance, preRollMs });
}

export function closeAsr(d: Draft): void {
  abortSpeculation(d);
  if (!d.s.asrOpen) return;
  d.s.asrOpen = false;
  d.s.partial = { text: '', stable: false };
  d.effects.push({ do: 'closeAsr', utterance: d.s.utterance });
}

export function abortSpeculation(d: Draft): void {
  if (d.s.speculated === null) return;
  d.s.speculated = null;
  d.effects.push({ do: 'abortSpeculation' });
}

/** Forgets the utterance's sound and text. @param keep  the sound may stay in the retry ring, if that is on. */
export function drop(d: Draft, keep = false): void {
  d.s.join = null;
  d.s.steer = null;
  if (d.s.asrOpen) d.effects.push({ do: 'drop', utterance: d.s.utterance, keep: keep && d.s.settings.retryRing });
  closeAsr(d);
}

export function notice(d: Draft, code: string): void {
  d.effects.push({ do: 'notice', code });
}

export function holdSound(d: Draft): void {
  if (d.s.soundHeld) return;
  d.s.soundHeld = true;
  d.effects.push({ do: 'holdSound' });
}

export function releaseSound(d: Draft): void {
  if (!d.s.soundHeld) return;
  d.s.soundHeld = false;
  d.effects.push({ do: 'releaseSound' });
}

/** All sound that was made is thrown away; what was heard of it is stored. */
export function flushSound(d: Draft): void {
  d.effects.push({ do: 'flushPlayback' });
  if (d.s.playing?.isTurn === true) d.effects.push({ do: 'storeHeard', turn: d.s.playing.id });
  d.s.playing = null;
  releaseSound(d);
}

export function cancelTurn(d: Draft, reason: CancelReason): void {
  if (d.s.turn?.status === 'work') d.effects.push({ do: 'cancelTurn', turn: d.s.turn.id, reason });
  if (d.s.turn?.status !== 'parked') d.s.turn = null;
}

export function canJoin(s: VoiceState, now: number): boolean {
  const turn = s.turn;
  return turn?.status === 'work' && !turn.heard && turn.tool === 'none' && now - turn.committedAtMs <= limits.joinMs;
}

/** Flush, store what was heard, and decide by rows 31 and 32 what becomes of the turn. */
export function takeFloor(d: Draft): void {
  const turn = d.s.turn;
  const joins = canJoin(d.s, d.now);
  flushSound(d);
  if (turn?.status === 'work' && turn.tool === 'running') {
    holdSound(d);
    d.s.steer = turn.id;
    return;
  }
  if (joins && turn !== null) d.s.join = { turn: turn.id, text: turn.text };
  cancelTurn(d, joins ? 'eot-revoked' : 'barge-in');
}

export function toListening(d: Draft, by: ListeningBy): void {
  go(d, 'listening');
  d.s.by = by;
  d.s.cameFrom = null;
  if (d.s.key === 'none') stopTimer(d, 'longest');
}

/** Listens because of a key: rows 5, 37 and 68. */
export function listenByKey(d: Draft, key: Purpose, phase: 'listening' | 'hearing'): void {
  const { s } = d;
  openMic(d);
  if (phase === 'listening') toListening(d, 'key');
  else toHearing(d, 'key');
  s.key = 'down';
  s.keyAtMs = d.now;
  s.purpose = key;
  s.windowEndsMs = null;
  openAsr(d, limits.preRollMs);
  d.effects.push({ do: 'cue', kind: 'listening' });
  if (key === 'talk') d.effects.push({ do: 'prewarm' });
  startLongest(d);
  restartIdle(d);
}

/** Hears someone who spoke into thinking or speaking: no listening to go back to. */
export function toHearing(d: Draft, by: ListeningBy): void {
  go(d, 'hearing');
  d.s.by = by;
  d.s.key = 'none';
  d.s.purpose = 'talk';
  d.s.cameFrom = null;
  d.s.windowEndsMs = null;
  startLongest(d);
}

export function toCommitting(d: Draft, tailMs: number): void {
  go(d, 'committing');
  stopTimer(d, 'longest');
  d.s.tailEndsMs = d.now + tailMs;
  d.effects.push({ do: 'flushAsr', utterance: d.s.utterance, tailMs });
  startTimer(d, 'flush', limits.flushMs + tailMs);
}

export function releaseLeases(d: Draft): void {
  if (!d.s.leased) return;
  d.s.leased = false;
  d.effects.push({ do: 'releaseLeases', lease: d.s.lease });
}

export function toArming(d: Draft, armedFor: 'talk' | 'dictation'): void {
  releaseLeases(d);
  d.s.armedFor = armedFor;
  d.s.lease += 1;
  d.s.leased = true;
  d.effects.push({ do: 'takeLeases', lease: d.s.lease, for: armedFor === 'talk' ? 'talk' : 'dictate' });
  go(d, 'arming');
  startTimer(d, 'arm', limits.armMs);
}

/** Leaves voice altogether. A turn that is at work goes on as text and is ours no longer. */
function leave(d: Draft, phase: 'off' | 'failed'): void {
  if (d.s.playing !== null || d.s.soundHeld || d.s.turn !== null) flushSound(d);
  drop(d);
  releaseLeases(d);
  closeMic(d);
  go(d, phase);
  stopTimer(d, 'idle');
  stopTimer(d, 'longest');
  Object.assign(d.s, { armedFor: 'none', key: 'none', turn: null, deferred: [], idleOver: false, cameFrom: null, windowEndsMs: null });
}

export function toOff(d: Draft): void {
  leave(d, 'off');
  d.s.fault = null;
}

export function toFailed(d: Draft, code: string): void {
  leave(d, 'failed');
  d.s.fault = { code, restarts: false };
}

/**
 * The rest of voice page 4.2: the first line that applies.
 *
 * @param after  an answer or a question ended: in wake mode its follow-up may come without the wake word.
 */
export function toRest(d: Draft, after = false): void {
  const { s } = d;
  drop(d);
  s.key = 'none';
  s.cameFrom = null;
  s.windowEndsMs = null;
  stopTimer(d, 'longest');
  if (s.fault !== null) {
    if (s.fault.restarts && s.armedFor !== 'none') toArming(d, s.armedFor);
    else toFailed(d, s.fault.code);
    return;
  }
  if (isAtWork(s)) {
    go(d, 'thinking');
    openMic(d);
    releaseSound(d);
    return;
  }
  // Its turn is over: what waits would sound into the next thing that is said.
  if (s.soundHeld) flushSound(d);
  if (s.waitingMode !== null) {
    s.mode = s.waitingMode;
    s.waitingMode = null;
  }
  if (s.mode !== 'hands-free') s.idleOver = false;
  if (s.idleOver) {
    go(d, 'standby');
    stopTimer(d, 'idle');
    if (s.micOpen) {
      d.effects.push({ do: 'cue', kind: 'off' });
      notice(d, 'VOICE_IDLE');
    }
    closeMic(d);
    return;
  }
  openMic(d);
  if (s.muted || s.armedFor !== 'talk' || s.mode === 'push-to-talk' || (s.mode === 'wake-word' && !after)) {
    go(d, 'standby');
    return;
  }
  s.purpose = 'talk';
  if (s.mode === 'hands-free') {
    toListening(d, 'hands-free');
    if (s.timers.idle === undefined) restartIdle(d);
  } else {
    toListening(d, 'follow-up');
    s.windowEndsMs = d.now + limits.windowMs;
    startTimer(d, 'window', limits.windowMs);
  }
  d.effects.push({ do: 'cue', kind: 'listening' });
}
