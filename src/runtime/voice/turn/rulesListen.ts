import { voiceLimits as limits } from '../limits.ts';
import {
  abortSpeculation,
  closeAsr,
  type Draft,
  drop,
  dropWindow,
  flushSound,
  go,
  isDeaf,
  notice,
  openAsr,
  releaseSound,
  startLongest,
  startTimer,
  toCommitting,
  toListening,
  toRest,
} from './draft.ts';
import { always, type Rule, rule, same } from './rule.ts';
import { neededSilenceMs } from './silence.ts';
import type { VoiceInput, VoiceState } from './state.ts';

type Final = Extract<VoiceInput, { type: 'final' }>;

const isDown = (s: VoiceState) => s.key === 'down';
const isLatched = (s: VoiceState) => s.key === 'latched';
const hasKey = (s: VoiceState) => s.key !== 'none';
const isHold = (s: VoiceState, now: number) => now - s.keyAtMs >= limits.holdMs;
/** Hands-free has no latch: there silence ends a turn anyway. */
const isHandsFreeTalk = (s: VoiceState) => s.mode === 'hands-free' && s.purpose === 'talk';

/** What becomes of a final: words that were joined to it are text too, whatever the gate says of the rest. */
export function outcomeOf(s: VoiceState, input: Final): 'answer' | 'ignore' | 'nothing' | 'insert' {
  if (s.join !== null && s.purpose === 'talk') return 'answer';
  if (input.verdict.kind === 'nothing' || input.text.trim() === '') return 'nothing';
  if (s.purpose === 'dictate') return 'insert';
  return input.verdict.kind;
}

/** Case, punctuation and spaces folded: what VO-52 compares. */
function fold(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

const isPromoted = (s: VoiceState, input: Final) => s.join === null && s.speculated !== null && fold(s.speculated) === fold(input.text);

function commit(d: Draft, input: Final): void {
  const { s } = d;
  const said = input.verdict.kind === 'answer' ? input.text.trim() : '';
  const text = [s.join?.text ?? '', said].filter((part) => part !== '').join(' ');
  const steer = s.steer !== null && s.turn?.id === s.steer && s.turn.status === 'work' ? s.steer : null;
  if (steer === null) {
    s.turnNumber += 1;
    s.turn = { id: s.turnNumber, status: 'work', text, committedAtMs: d.now, heard: false, tool: 'none' };
    if (s.soundHeld) flushSound(d);
  }
  d.effects.push({ do: 'commit', turn: steer ?? s.turnNumber, utterance: s.utterance, text, replaces: s.join?.turn ?? null, steer });
  d.effects.push({ do: 'mark', name: 'committed' });
  Object.assign(s, { join: null, steer: null, key: 'none', cameFrom: null, windowEndsMs: null, idleOver: false, falseHolds: 0 });
  go(d, 'thinking');
  releaseSound(d);
}

/** Latched listening goes on, with a recogniser at once: the key promised that everything counts. */
function keepLatched(d: Draft): void {
  toListening(d, 'key');
  openAsr(d, 0);
  startLongest(d);
}

const latchedDictation = (s: VoiceState) => s.purpose === 'dictate' && isLatched(s) && !isDeaf(s);

function defer(d: Draft, input: VoiceInput): void {
  d.s.deferred = [...d.s.deferred, { input, atMs: d.now }];
}

const waits = (s: VoiceState, ...types: VoiceInput['type'][]) => s.deferred.some(({ input }) => types.includes(input.type));
const hasRoom = (s: VoiceState) => s.deferred.length < limits.deferredInputs;

/** From the first frame of speech to the commit. */
export const listenRules: readonly Rule[] = [
  rule(8, ['listening'], ['speechStart', 'speechActive'], always, (d) => {
    const { s } = d;
    const by = s.by;
    go(d, 'hearing');
    s.cameFrom = by;
    openAsr(d, limits.preRollMs);
    startLongest(d);
  }),
  rule(
    9,
    ['listening'],
    ['keyUp'],
    (s, input, now) => isDown(s) && input.key === s.purpose && isHold(s, now),
    (d) => {
      d.s.key = 'none';
      toCommitting(d, limits.tailMs);
    },
  ),
  rule(
    10,
    ['listening', 'hearing'],
    ['keyUp'],
    (s, input, now) => isDown(s) && input.key === s.purpose && !isHold(s, now) && !isHandsFreeTalk(s),
    (d) => {
      d.s.key = 'latched';
    },
  ),
  rule(
    11,
    ['listening', 'hearing', 'pausing'],
    ['keyDown'],
    (s, input) => isLatched(s) && input.key === s.purpose,
    (d) => {
      d.s.key = 'none';
      toCommitting(d, 0);
    },
  ),
  rule(
    12,
    ['listening'],
    ['timer'],
    (s, input) => input.name === 'window' && !hasKey(s),
    (d) => {
      d.effects.push({ do: 'cue', kind: 'off' });
      closeAsr(d);
      toRest(d);
    },
  ),
  // While pausing, the same text again only changes how settled it looks; other text is row 18.
  rule(
    13,
    ['listening', 'hearing', 'pausing', 'committing'],
    ['partial'],
    (s, input) => s.phase !== 'pausing' || input.text === s.partial.text,
    (d, input) => {
      caption(d, input.text, input.stable);
    },
  ),
  rule(
    14,
    ['hearing', 'pausing'],
    ['blip'],
    (s) => !isDown(s),
    (d) => {
      const { s } = d;
      const { cameFrom, windowEndsMs } = s;
      drop(d);
      if (isLatched(s)) return keepLatched(d);
      if (cameFrom === null || cameFrom === 'interruption' || cameFrom === 'key') return toRest(d);
      toListening(d, cameFrom);
      if (windowEndsMs !== null) startTimer(d, 'window', Math.max(0, windowEndsMs - d.now));
    },
  ),
  rule(
    15,
    ['hearing'],
    ['speechPause'],
    (s) => !isDown(s),
    (d) => {
      go(d, 'pausing');
      d.effects.push({ do: 'askEndOfTurn', utterance: d.s.utterance });
      waitForSilence(d, d.s.settings.detector ? 0.5 : null);
    },
  ),
  rule(16, ['hearing'], ['speechPause', 'blip'], isDown, same),
  rule(17, ['pausing'], ['endOfTurn'], always, (d, input) => {
    const { s } = d;
    waitForSilence(d, input.probability);
    const { text, stable } = s.partial;
    if (!s.settings.speculation || !(input.probability >= limits.speculateFrom) || !stable || text.trim() === '' || s.speculated !== null)
      return;
    s.speculated = text;
    d.effects.push({ do: 'speculate', utterance: s.utterance, text });
  }),
  rule(
    18,
    ['pausing'],
    ['partial'],
    (s, input) => input.text !== s.partial.text,
    (d, input) => {
      caption(d, input.text, input.stable);
      abortSpeculation(d);
      d.effects.push({ do: 'askEndOfTurn', utterance: d.s.utterance });
    },
  ),
  rule(19, ['pausing'], ['speechActive', 'speechStart'], always, (d) => {
    abortSpeculation(d);
    go(d, 'hearing');
  }),
  rule(
    20,
    ['pausing'],
    ['timer'],
    (_s, input) => input.name === 'silence',
    (d) => {
      toCommitting(d, 0);
    },
  ),
  rule(
    21,
    ['hearing'],
    ['keyUp'],
    (s, input, now) => isDown(s) && input.key === s.purpose && (isHold(s, now) || isHandsFreeTalk(s)),
    (d) => {
      d.s.key = 'none';
      toCommitting(d, limits.tailMs);
    },
  ),
  rule(
    22,
    ['hearing', 'pausing'],
    ['timer'],
    (_s, input) => input.name === 'longest',
    (d) => {
      endTooLong(d);
    },
  ),
  rule(
    23,
    ['committing'],
    ['final'],
    (s, input) => outcomeOf(s, input) === 'answer' && isPromoted(s, input),
    (d, input) => {
      d.s.speculated = null;
      closeAsr(d);
      commit(d, input);
      d.effects.push({ do: 'promote', turn: d.s.turnNumber });
    },
  ),
  rule(
    24,
    ['committing'],
    ['final'],
    (s, input) => outcomeOf(s, input) === 'answer' && !isPromoted(s, input),
    (d, input) => {
      closeAsr(d);
      commit(d, input);
    },
  ),
  rule(
    25,
    ['committing'],
    ['final'],
    (s, input) => outcomeOf(s, input) === 'ignore',
    (d, input) => {
      const reason = input.verdict.kind === 'ignore' ? input.verdict.reason : '';
      d.effects.push({ do: 'ignored', utterance: d.s.utterance, text: input.text, reason });
      closeAsr(d);
      toRest(d);
    },
  ),
  rule(
    26,
    ['committing'],
    ['final'],
    (s, input) => outcomeOf(s, input) === 'nothing',
    (d) => {
      const { s } = d;
      if (s.by === 'key' || s.by === 'wake') notice(d, 'NOTHING_HEARD');
      drop(d, true);
      if (latchedDictation(s)) keepLatched(d);
      else toRest(d);
    },
  ),
  rule(27, ['listening', 'hearing', 'pausing', 'committing'], ['asrFailed'], always, (d, input) => {
    giveUp(d, input.code);
  }),
  rule(
    27,
    ['committing'],
    ['timer'],
    (_s, input) => input.name === 'flush',
    (d) => {
      giveUp(d, 'ENGINE_TIMEOUT');
    },
  ),
  rule(27, ['listening', 'hearing', 'pausing'], ['micSilent'], always, (d) => {
    giveUp(d, 'MIC_SILENT');
  }),
  rule(
    28,
    ['committing'],
    ['speechStart', 'speechActive'],
    (s, input, now) => hasRoom(s) && !waits(s, 'speechStart', 'speechActive') && (input.type === 'speechStart' || now >= s.tailEndsMs),
    defer,
  ),
  rule(28, ['committing'], ['blip'], always, (d) => {
    d.s.deferred = d.s.deferred.filter(({ input }) => input.type !== 'speechStart' && input.type !== 'speechActive');
  }),
  rule(53, ['listening', 'hearing', 'pausing', 'committing'], ['cancel'], always, (d) => {
    d.s.deferred = [];
    toRest(d);
  }),
  rule(
    54,
    ['listening'],
    ['keyUp'],
    (s, input, now) => isDown(s) && input.key === s.purpose && !isHold(s, now) && isHandsFreeTalk(s),
    (d) => {
      d.s.key = 'none';
      drop(d);
      toListening(d, 'hands-free');
    },
  ),
  rule(55, ['committing'], ['keyDown'], (s, input) => input.key === 'talk' && s.purpose === 'talk' && hasRoom(s), defer),
  rule(55, ['committing'], ['keyUp'], (s, input) => input.key === 'talk' && waits(s, 'keyDown') && hasRoom(s), defer),
  rule(
    56,
    ['listening'],
    ['timer'],
    (s, input) => input.name === 'longest' && hasKey(s),
    (d) => {
      endTooLong(d);
    },
  ),
  rule(
    57,
    ['listening', 'hearing', 'pausing', 'committing'],
    ['timer'],
    (s, input) => input.name === 'idle' && s.mode === 'hands-free',
    (d) => {
      d.s.idleOver = true;
      if (d.s.phase === 'listening' && !hasKey(d.s)) toRest(d);
    },
  ),
  rule(
    62,
    ['listening', 'hearing', 'pausing'],
    ['wakeRejected'],
    (s) => !hasKey(s) && (s.by === 'wake' || s.cameFrom === 'wake'),
    (d) => {
      d.effects.push({ do: 'count', reason: 'wake-rejected' });
      dropWindow(d);
      toRest(d);
    },
  ),
  rule(
    63,
    ['committing'],
    ['final'],
    (s, input) => outcomeOf(s, input) === 'insert',
    (d, input) => {
      d.effects.push({ do: 'insert', utterance: d.s.utterance, text: input.text });
      closeAsr(d);
      if (latchedDictation(d.s)) keepLatched(d);
      else toRest(d);
    },
  ),
  rule(70, ['pausing'], ['speechPause'], always, (d) => {
    d.effects.push({ do: 'askEndOfTurn', utterance: d.s.utterance });
  }),
];

function caption(d: Draft, text: string, stable: boolean): void {
  d.s.partial = { text, stable };
  d.effects.push({ do: 'caption', utterance: d.s.utterance, text, stable });
}

function waitForSilence(d: Draft, probability: number | null): void {
  const needed = neededSilenceMs(probability, d.s.settings);
  startTimer(d, 'silence', Math.max(0, needed - (d.now - d.s.lastVoicedMs)));
}

function giveUp(d: Draft, code: string): void {
  notice(d, code);
  drop(d, true);
  toRest(d);
}

/** A key that stuck, or somebody who talks without end: what was said still counts. */
function endTooLong(d: Draft): void {
  d.s.key = 'none';
  notice(d, 'VOICE_TOO_LONG');
  toCommitting(d, 0);
}
