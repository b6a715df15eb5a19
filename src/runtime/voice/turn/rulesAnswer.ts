import type { VoicePhase } from '../../../shared/domain/voice.ts';
import { voiceLimits as limits } from '../limits.ts';
import {
  cancelTurn,
  canJoin,
  closeAsr,
  type Draft,
  drop,
  flushSound,
  go,
  holdSound,
  isAtWork,
  isDeaf,
  listenByKey,
  mayInterrupt,
  notice,
  openAsr,
  releaseSound,
  restartIdle,
  startTimer,
  takeFloor,
  toHearing,
  toRest,
} from './draft.ts';
import { always, type Rule, rule, same } from './rule.ts';
import type { VoiceState } from './state.ts';

const answering: readonly VoicePhase[] = ['thinking', 'speaking', 'held'];
const notYet: readonly VoicePhase[] = ['arming', 'standby', 'listening', 'hearing', 'pausing', 'committing'];

/** The turn is not what one waits for or hears now: someone talks, or other sound is played. */
const isBehind = (s: VoiceState, turn: number) => notYet.includes(s.phase) || (s.playing !== null && s.playing.id !== turn);

function resume(d: Draft): void {
  go(d, 'speaking');
  d.effects.push({ do: 'resumePlayback' });
  d.s.falseHolds += 1;
}

/** Our turn is over. */
function end(d: Draft): void {
  if (d.s.turn !== null) d.s.turn = d.s.playing?.id === d.s.turn.id ? { ...d.s.turn, status: 'ended' } : null;
}

/** After an answer or a question: what was guarded is heard, else rest. */
function toWhatFollows(d: Draft): void {
  if (d.s.guarded) {
    toHearing(d, 'interruption');
    releaseSound(d);
    return;
  }
  restartIdle(d);
  toRest(d, true);
}

/** From the commit to the end of the answer. */
export const answerRules: readonly Rule[] = [
  rule(
    29,
    ['thinking'],
    ['firstSound'],
    (s) => !s.guarded,
    (d, input) => {
      drop(d);
      go(d, 'speaking');
      d.s.playing = { id: input.turn, isTurn: true };
      if (d.s.turn !== null) d.s.turn = { ...d.s.turn, heard: true };
      d.effects.push({ do: 'mark', name: 'firstAudioPlayed' });
    },
  ),
  rule(
    30,
    ['thinking'],
    ['speechStart'],
    (s) => !s.guarded && mayInterrupt(s),
    (d) => {
      go(d, 'thinking', true);
      holdSound(d);
      openAsr(d, limits.preRollMs);
      startTimer(d, 'guard', limits.guardMs);
    },
  ),
  rule(
    31,
    ['thinking'],
    ['words'],
    (s, _input, now) => canJoin(s, now),
    (d) => {
      takeFloor(d);
      toHearing(d, 'interruption');
    },
  ),
  rule(
    32,
    ['thinking'],
    ['words'],
    (s, _input, now) => !canJoin(s, now),
    (d) => {
      takeFloor(d);
      toHearing(d, 'interruption');
    },
  ),
  rule(
    33,
    ['thinking'],
    ['backchannel', 'blip'],
    (s) => s.guarded,
    (d) => {
      go(d, 'thinking');
      releaseSound(d);
    },
  ),
  rule(
    33,
    ['thinking'],
    ['timer'],
    (s, input) => input.name === 'guard' && s.guarded,
    (d) => {
      go(d, 'thinking');
      releaseSound(d);
    },
  ),
  rule(
    34,
    ['thinking'],
    ['replyDone'],
    (s, input) => !input.hadSound && !isBehind(s, input.turn),
    (d) => {
      end(d);
      toWhatFollows(d);
    },
  ),
  // Sound that ends while the turn goes on, as before a tool call, is the end of nothing yet.
  rule(
    34,
    ['thinking'],
    ['drained'],
    (s) => !(s.guarded && isAtWork(s)),
    (d) => {
      if (d.s.turn?.status === 'ended') d.s.turn = null;
      toWhatFollows(d);
    },
  ),
  rule(
    35,
    answering,
    ['replyFailed'],
    (s, input) => !isBehind(s, input.turn),
    (d, input) => {
      const talks = d.s.guarded || (d.s.phase === 'held' && d.s.speechOn);
      d.effects.push({ do: 'cue', kind: 'failed' });
      notice(d, input.code);
      flushSound(d);
      if (d.s.turn?.id === input.turn) d.s.turn = null;
      if (talks) toHearing(d, 'interruption');
      else {
        restartIdle(d);
        toRest(d);
      }
    },
  ),
  rule(36, answering, ['cancel'], always, (d, input) => {
    cancelTurn(d, input.reason);
    flushSound(d);
    restartIdle(d);
    toRest(d);
  }),
  rule(36, answering, ['stopWord'], always, (d) => {
    cancelTurn(d, 'user-cancel');
    flushSound(d);
    restartIdle(d);
    toRest(d);
  }),
  rule(
    37,
    answering,
    ['keyDown'],
    (s, input) => input.key === 'talk' && !isDeaf(s),
    (d) => {
      const heard = d.s.guarded || d.s.phase === 'held';
      takeFloor(d);
      listenByKey(d, 'talk', heard ? 'hearing' : 'listening');
    },
  ),
  rule(
    38,
    ['speaking'],
    ['speechStart', 'speechActive'],
    (s, input) => mayInterrupt(s) && input.gate,
    (d) => {
      go(d, 'held');
      d.s.windowExtended = false;
      d.effects.push({ do: 'pausePlayback' });
      openAsr(d, limits.preRollMs);
      startTimer(d, 'wordWindow', limits.wordWindowMs);
    },
  ),
  rule(
    39,
    ['speaking'],
    ['speechStart', 'speechActive'],
    (s, input) => !(mayInterrupt(s) && input.gate),
    (d) => {
      d.effects.push({ do: 'count', reason: mayInterrupt(d.s) ? 'gate' : 'no-interruption' });
    },
  ),
  rule(40, ['held', 'speaking'], ['words'], always, (d) => {
    takeFloor(d);
    toHearing(d, 'interruption');
  }),
  rule(41, ['held'], ['backchannel'], always, (d) => {
    resume(d);
    closeWindow(d);
  }),
  rule(42, ['held'], ['blip'], always, same),
  rule(
    43,
    ['held'],
    ['timer'],
    (s, input) => input.name === 'wordWindow' && !s.speechOn,
    (d) => {
      resume(d);
      closeWindow(d);
    },
  ),
  rule(
    44,
    ['held'],
    ['timer'],
    (s, input) => input.name === 'wordWindow' && s.speechOn,
    (d) => {
      if (d.s.windowExtended) return resume(d);
      d.s.windowExtended = true;
      startTimer(d, 'wordWindow', limits.wordWindowExtendedMs - limits.wordWindowMs);
    },
  ),
  rule(45, ['speaking'], ['drained'], always, (d) => {
    const { s } = d;
    d.effects.push({ do: 'mark', name: 'drained' });
    s.playing = null;
    s.falseHolds = 0;
    if (s.turn?.status === 'ended') s.turn = null;
    restartIdle(d);
    toRest(d, true);
  }),
  rule(
    64,
    answering,
    ['turnParked'],
    (s, input) => !isBehind(s, input.turn),
    (d, input) => {
      if (d.s.turn !== null) d.s.turn = { ...d.s.turn, status: 'parked' };
      if (d.s.phase === 'thinking' && !input.toBeSaid) toWhatFollows(d);
    },
  ),
  rule(67, ['thinking', 'speaking'], ['speechPause'], (s) => s.asrOpen && !s.guarded, closeWindow),
  rule(
    69,
    [...notYet, ...answering],
    ['replyDone', 'replyFailed', 'turnParked'],
    (s, input) => isBehind(s, input.turn),
    (d, input) => {
      if (input.type === 'replyFailed') notice(d, input.code);
      if (d.s.turn === null) return;
      d.s.turn = input.type === 'turnParked' ? { ...d.s.turn, status: 'parked' } : null;
    },
  ),
  // The agent is done, its sound is not: `drained` follows and is the end.
  rule(
    69,
    answering,
    ['replyDone'],
    (s, input) => !isBehind(s, input.turn) && (input.hadSound || s.phase !== 'thinking'),
    (d) => {
      if (d.s.turn !== null) d.s.turn = { ...d.s.turn, status: 'ended' };
    },
  ),
  // Ours: what rows 31, 32 and 37 have to know.
  rule(71, [...notYet, ...answering], ['toolCall'], always, (d, input) => {
    if (d.s.turn !== null) d.s.turn = { ...d.s.turn, tool: input.running ? 'running' : 'began' };
  }),
];

/** Nobody waits for words any more. */
function closeWindow(d: Draft): void {
  closeAsr(d);
}
