import { voiceLimits as limits } from '../limits.ts';
import {
  abortSpeculation,
  cancelTurn,
  closeAsr,
  closeMic,
  drop,
  dropWindow,
  go,
  holdSound,
  isAtWork,
  isDeaf,
  listenByKey,
  notice,
  openAsr,
  openMic,
  releaseSound,
  restartIdle,
  startLongest,
  startTimer,
  toArming,
  toCommitting,
  toFailed,
  toListening,
  toOff,
  toRest,
} from './draft.ts';
import { allBut, always, type Rule, rule, same } from './rule.ts';
import type { VoiceState } from './state.ts';

const isFailing = (s: VoiceState) => s.phase === 'failed' || s.phase === 'off';
const hasKey = (s: VoiceState) => s.key !== 'none';
const dictationOnly = (s: VoiceState) => s.phase === 'standby' && s.armedFor === 'dictation';

/** Arming, keys in rest, mute, devices, engines, modes: the rows that hold whatever is said. */
export const baseRules: readonly Rule[] = [
  rule(
    1,
    ['off', 'failed', 'standby'],
    ['arm'],
    (s) => !s.muted && (isFailing(s) || dictationOnly(s)),
    (d) => {
      d.s.fault = null;
      toArming(d, 'talk');
      openMic(d);
    },
  ),
  rule(
    1,
    ['off'],
    ['keyDown'],
    (s, input) => !s.muted && input.key === 'dictate',
    (d) => {
      toArming(d, 'dictation');
      openMic(d);
      d.s.key = 'down';
      d.s.keyAtMs = d.now;
      d.s.purpose = 'dictate';
    },
  ),
  rule(
    2,
    ['arming'],
    ['armed'],
    (s, input) => input.lease === s.lease,
    (d) => {
      const { key, keyAtMs, purpose } = d.s;
      d.s.fault = null;
      restartIdle(d);
      if (key === 'down' && !d.s.muted && (purpose === 'dictate' || d.s.armedFor === 'talk')) {
        listenByKey(d, purpose, 'listening');
        d.s.keyAtMs = keyAtMs;
      } else toRest(d);
    },
  ),
  rule(
    3,
    ['arming'],
    ['armFailed'],
    (s, input) => input.lease === s.lease,
    (d, input) => {
      toFailed(d, input.code);
      notice(d, input.code);
    },
  ),
  rule(
    3,
    ['arming'],
    ['timer'],
    (_s, input) => input.name === 'arm',
    (d) => {
      toFailed(d, 'ENGINE_TIMEOUT');
      notice(d, 'ENGINE_TIMEOUT');
    },
  ),
  rule(4, allBut('off'), ['disarm'], always, (d) => {
    cancelTurn(d, 'user-cancel');
    toOff(d);
  }),
  rule(
    5,
    ['standby'],
    ['keyDown'],
    (s, input) => !isDeaf(s) && (input.key === 'dictate' || s.armedFor === 'talk'),
    (d, input) => {
      listenByKey(d, input.key, 'listening');
    },
  ),
  rule(
    6,
    ['standby', 'listening'],
    ['wake'],
    (s) => s.mode === 'wake-word' && s.armedFor === 'talk' && !hasKey(s) && (s.phase === 'standby' || s.by === 'follow-up'),
    (d) => {
      toListening(d, 'wake');
      d.s.purpose = 'talk';
      closeAsr(d);
      openAsr(d, 0);
      d.effects.push({ do: 'cue', kind: 'listening' });
      d.s.windowEndsMs = d.now + limits.windowMs;
      startTimer(d, 'window', limits.windowMs);
    },
  ),
  rule(7, ['standby'], ['speechStart', 'speechActive'], always, same),
  rule(46, allBut('off', 'failed'), ['muteOn'], always, (d) => {
    const { phase, guarded } = d.s;
    d.s.muted = true;
    d.s.deferred = [];
    closeMic(d);
    drop(d);
    if (phase === 'arming') {
      toOff(d);
      notice(d, 'MIC_MUTED');
    } else if (phase === 'thinking') {
      go(d, 'thinking');
      if (guarded) releaseSound(d);
    } else if (phase === 'held') {
      go(d, 'speaking');
      d.effects.push({ do: 'resumePlayback' });
    } else if (phase !== 'speaking') toRest(d);
  }),
  // Mute survives everything, so it is noted also while voice is off.
  rule(46, ['off', 'failed'], ['muteOn'], always, (d) => {
    d.s.muted = true;
  }),
  rule(
    47,
    allBut('off', 'failed'),
    ['muteOff'],
    (s) => s.muted,
    (d) => {
      d.s.muted = false;
      restartIdle(d);
      if (d.s.phase === 'standby') toRest(d);
      else openMic(d);
    },
  ),
  rule(
    47,
    ['off', 'failed'],
    ['muteOff'],
    (s) => s.muted,
    (d) => {
      d.s.muted = false;
    },
  ),
  rule(
    48,
    allBut('off', 'arming', 'failed'),
    ['deviceChanged'],
    (s) => s.micOpen,
    (d) => {
      notice(d, 'VOICE_DEVICE_CHANGED');
      closeMic(d);
      openMic(d);
      if (d.s.phase === 'hearing' || d.s.phase === 'pausing') toCommitting(d, 0);
    },
  ),
  rule(49, allBut('off', 'arming', 'failed'), ['engineLost'], always, (d, input) => {
    if (d.s.fault === null || d.s.fault.restarts) d.s.fault = { code: input.code, restarts: !input.final };
    d.s.deferred = [];
    notice(d, input.code);
    drop(d);
    if (d.s.phase === 'thinking') {
      go(d, 'thinking');
      releaseSound(d);
    } else if (d.s.phase === 'held') {
      go(d, 'speaking');
      d.effects.push({ do: 'resumePlayback' });
    } else if (d.s.phase !== 'speaking') toRest(d);
  }),
  rule(50, allBut('off', 'failed'), ['memoryDisarm', 'pageGone'], always, (d, input) => {
    toOff(d);
    if (input.type === 'memoryDisarm') d.effects.push({ do: 'notice', code: 'VOICE_MEMORY', figures: input.figures });
    else notice(d, 'VOICE_PAGE_GONE');
  }),
  rule(51, allBut(), ['mode'], always, (d, input) => {
    const { s } = d;
    if (s.phase === 'off' || s.phase === 'failed' || s.phase === 'arming') {
      s.mode = input.mode;
      return;
    }
    s.waitingMode = input.mode;
    if (s.phase === 'standby' || (s.phase === 'listening' && !hasKey(s))) {
      s.mode = input.mode;
      s.waitingMode = null;
      restartIdle(d);
      toRest(d);
    } else restartIdle(d);
  }),
  rule(
    54,
    ['listening', 'hearing', 'pausing'],
    ['keyDown'],
    (s, input) => !hasKey(s) && input.key === 'talk',
    (d) => {
      abortSpeculation(d);
      const { partial, asrOpen } = d.s;
      go(d, d.s.phase === 'listening' ? 'listening' : 'hearing');
      dropWindow(d);
      d.s.by = 'key';
      d.s.purpose = 'talk';
      d.s.key = 'down';
      d.s.keyAtMs = d.now;
      d.s.cameFrom = null;
      openAsr(d, limits.preRollMs);
      if (asrOpen) d.s.partial = partial;
      startLongest(d);
      restartIdle(d);
    },
  ),
  rule(
    58,
    ['off', 'failed'],
    ['arm'],
    (s) => s.muted,
    (d) => {
      notice(d, 'MIC_MUTED');
    },
  ),
  rule(
    59,
    allBut('off', 'failed'),
    ['deviceLost'],
    (s) => s.micOpen,
    (d, input) => {
      const { phase } = d.s;
      const code = input.code ?? 'DEVICE_LOST';
      notice(d, code);
      d.s.fault = { code, restarts: false };
      closeMic(d);
      if (phase === 'arming' || phase === 'standby' || phase === 'listening') toFailed(d, code);
      else if (phase === 'hearing' || phase === 'pausing') toCommitting(d, 0);
      else if (phase === 'thinking') {
        // What was said into a guard is gone with the microphone.
        drop(d);
        go(d, 'thinking');
        releaseSound(d);
      } else if (phase === 'held') {
        drop(d);
        go(d, 'speaking');
        d.effects.push({ do: 'resumePlayback' });
      } else if (phase === 'speaking') drop(d);
    },
  ),
  rule(
    60,
    ['off', 'failed', 'standby', 'thinking', 'speaking'],
    ['keyDown'],
    (s, input) => {
      if (s.phase === 'off') return s.muted || input.key === 'talk';
      if (s.phase === 'failed') return true;
      return isDeaf(s) || (dictationOnly(s) && input.key === 'talk');
    },
    (d) => {
      notice(d, d.s.fault !== null ? d.s.fault.code : d.s.muted ? 'MIC_MUTED' : 'VOICE_NOT_ARMED');
    },
  ),
  rule(61, ['arming'], ['keyDown'], always, (d, input) => {
    d.s.key = 'down';
    d.s.keyAtMs = d.now;
    d.s.purpose = input.key;
  }),
  rule(61, ['arming'], ['keyUp', 'cancel'], always, (d) => {
    d.s.key = 'none';
  }),
  rule(
    65,
    allBut('off', 'failed'),
    ['turnResumed'],
    (s) => s.armedFor === 'talk' && !isAtWork(s),
    (d, input) => {
      const { s } = d;
      const ours = s.turn?.id === input.turn ? s.turn : null;
      s.turn = {
        id: input.turn,
        status: 'work',
        text: ours?.text ?? '',
        committedAtMs: ours?.committedAtMs ?? d.now - limits.joinMs - 1,
        heard: true,
        tool: 'none',
      };
      if (s.phase === 'standby' || (s.phase === 'listening' && !hasKey(s))) {
        drop(d);
        go(d, 'thinking');
        dropWindow(d);
        openMic(d);
        releaseSound(d);
      } else if (s.phase !== 'thinking' && s.playing?.id !== input.turn) holdSound(d);
    },
  ),
  rule(
    66,
    ['standby', 'listening'],
    ['say'],
    (s, input) => s.armedFor === 'talk' && !hasKey(s) && input.text.trim() !== '',
    (d, input) => {
      drop(d);
      d.s.turnNumber += 1;
      d.s.playing = { id: d.s.turnNumber, isTurn: false };
      d.s.falseHolds = 0;
      go(d, 'speaking');
      dropWindow(d);
      d.effects.push({ do: 'say', turn: d.s.turnNumber, text: input.text });
    },
  ),
  rule(
    68,
    ['thinking', 'listening'],
    ['keyDown'],
    (s, input) => input.key === 'dictate' && !isDeaf(s) && (s.phase === 'thinking' || !hasKey(s)),
    (d) => {
      drop(d);
      if (d.s.phase === 'thinking') holdSound(d);
      go(d, 'listening');
      dropWindow(d);
      listenByKey(d, 'dictate', 'listening');
    },
  ),
];
