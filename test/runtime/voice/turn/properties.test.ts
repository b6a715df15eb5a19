import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isStale, reduceVoice, voiceRules } from '../../../../src/runtime/voice/turn/reduce.ts';
import {
  defaultVoiceSettings,
  initialVoice,
  TIMER_NAMES,
  type VoiceInput,
  type VoiceState,
} from '../../../../src/runtime/voice/turn/state.ts';

import { verifies } from '../../../helpers/verifies.ts';

/** Numbers are chosen when the input is fed: mostly the present one, at times an old one. */
type Told = { readonly make: (state: VoiceState, age: number) => VoiceInput; readonly age: number; readonly waitMs: number };

const text = fc.constantFrom('', '  ', 'stop', 'what time is it', 'and then');
const verdict = fc.constantFrom({ kind: 'answer' } as const, { kind: 'nothing' } as const, { kind: 'ignore', reason: 'echo' } as const);
const key = fc.constantFrom('talk' as const, 'dictate' as const);
const utterance = (s: VoiceState, age: number) => s.utterance - age;
const turn = (s: VoiceState, age: number) => ((s.playing ?? s.turn)?.id ?? 0) - age;
const plain = (input: VoiceInput) => () => input;

const make: fc.Arbitrary<Told['make']> = fc.oneof(
  fc
    .constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
    .map((one) =>
      plain(
        one === 0
          ? { type: 'disarm' }
          : one === 1
            ? { type: 'pageGone' }
            : one === 2
              ? { type: 'memoryDisarm', figures: {} }
              : { type: 'arm' },
      ),
    ),
  fc.constantFrom(
    plain({ type: 'arm' }),
    plain({ type: 'muteOn' }),
    plain({ type: 'muteOff' }),
    plain({ type: 'cancel', reason: 'user-cancel' }),
    plain({ type: 'micSilent' }),
    plain({ type: 'deviceChanged' }),
    plain({ type: 'deviceLost' }),
    plain({ type: 'engineLost', code: 'ENGINE_CRASHED', final: false }),
    plain({ type: 'engineLost', code: 'ENGINE_CRASHED', final: true }),
    plain({ type: 'say', text: 'hello' }),
    plain({ type: 'stopWord' }),
  ),
  { weight: 4, arbitrary: key.map((each) => plain({ type: 'keyDown', key: each })) },
  { weight: 4, arbitrary: key.map((each) => plain({ type: 'keyUp', key: each })) },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      plain({ type: 'speechStart', probability: 0.9, gate: true }),
      plain({ type: 'speechActive', gate: true }),
      plain({ type: 'speechActive', gate: false }),
      plain({ type: 'speechPause', pauseMs: 100 }),
      plain({ type: 'blip' }),
      plain({ type: 'wake', score: 0.9 }),
    ),
  },
  fc.constantFrom('push-to-talk' as const, 'hands-free' as const, 'wake-word' as const).map((mode) => plain({ type: 'mode', mode })),
  {
    weight: 3,
    arbitrary: fc.constant((s: VoiceState, age: number): VoiceInput => ({ type: 'armed', lease: s.lease - age })),
  },
  fc.constant((s: VoiceState, age: number): VoiceInput => ({ type: 'armFailed', lease: s.lease - age, code: 'ASR_UNAVAILABLE' })),
  {
    weight: 6,
    arbitrary: fc.tuple(text, verdict).map(
      ([said, of]) =>
        (s: VoiceState, age: number): VoiceInput => ({
          type: 'final',
          utterance: utterance(s, age),
          text: said,
          language: 'en',
          verdict: of,
        }),
    ),
  },
  {
    weight: 4,
    arbitrary: text.map(
      (said) =>
        (s: VoiceState, age: number): VoiceInput => ({
          type: 'partial',
          utterance: utterance(s, age),
          text: said,
          stable: said.length % 2 === 0,
        }),
    ),
  },
  fc.double({ min: 0, max: 1 }).map(
    (probability) =>
      (s: VoiceState, age: number): VoiceInput => ({ type: 'endOfTurn', utterance: utterance(s, age), probability }),
  ),
  {
    weight: 3,
    arbitrary: fc.constantFrom('words' as const, 'backchannel' as const).map(
      (type) =>
        (s: VoiceState, age: number): VoiceInput => ({ type, utterance: utterance(s, age), text: 'no' }),
    ),
  },
  fc.constantFrom(
    (s: VoiceState, age: number): VoiceInput => ({ type: 'wakeRejected', utterance: utterance(s, age) }),
    (s: VoiceState, age: number): VoiceInput => ({ type: 'asrFailed', utterance: utterance(s, age), code: 'ASR_FAILED' }),
  ),
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      (s: VoiceState, age: number): VoiceInput => ({ type: 'firstSound', turn: (s.turn?.id ?? 0) - age }),
      (s: VoiceState, age: number): VoiceInput => ({ type: 'drained', turn: turn(s, age) }),
      (s: VoiceState, age: number): VoiceInput => ({ type: 'replyDone', turn: (s.turn?.id ?? 0) - age, hadSound: s.playing !== null }),
      (s: VoiceState, age: number): VoiceInput => ({ type: 'replyDone', turn: (s.turn?.id ?? 0) - age, hadSound: false }),
      (s: VoiceState, age: number): VoiceInput => ({ type: 'replyFailed', turn: turn(s, age), code: 'MODEL_FAILED' }),
      (s: VoiceState, age: number): VoiceInput => ({ type: 'turnParked', turn: (s.turn?.id ?? 0) - age, toBeSaid: true }),
      (s: VoiceState, age: number): VoiceInput => ({ type: 'turnParked', turn: (s.turn?.id ?? 0) - age, toBeSaid: false }),
      (s: VoiceState, age: number): VoiceInput => ({ type: 'turnResumed', turn: s.turn?.status === 'parked' ? s.turn.id - age : 0 }),
      (s: VoiceState, age: number): VoiceInput => ({ type: 'toolCall', turn: (s.turn?.id ?? 0) - age, running: true }),
    ),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom(...TIMER_NAMES).map(
      (name) =>
        (s: VoiceState, age: number): VoiceInput => ({ type: 'timer', name, id: (s.timers[name] ?? 0) - age }),
    ),
  },
);

const told: fc.Arbitrary<Told> = fc.record({
  make,
  age: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1),
  waitMs: fc.constantFrom(0, 20, 100, 400, 2_000),
});
const start = fc
  .record({
    mode: fc.constantFrom('push-to-talk' as const, 'hands-free' as const, 'wake-word' as const),
    interrupt: fc.boolean(),
    detector: fc.boolean(),
    speculation: fc.boolean(),
  })
  .map(({ mode, interrupt, detector, speculation }) =>
    initialVoice({
      mode,
      settings: {
        ...defaultVoiceSettings,
        interruptByVoice: { 'push-to-talk': interrupt, 'hands-free': interrupt, 'wake-word': interrupt },
        detector,
        speculation,
      },
    }),
  );
// Most random lists would end before they are armed: the first two steps are given.
const arming: Told[] = [
  { make: () => ({ type: 'arm' }), age: 0, waitMs: 0 },
  { make: (s) => ({ type: 'armed', lease: s.lease }), age: 0, waitMs: 10 },
];
const step = (input: Told['make'] | VoiceInput, waitMs = 0): Told => ({
  make: typeof input === 'function' ? input : plain(input),
  age: 0,
  waitMs,
});
const speech: VoiceInput = { type: 'speechStart', probability: 0.9, gate: true };
// Alone, chance reaches an answer too seldom to disturb it.
const talk: Told[] = [
  step({ type: 'keyDown', key: 'talk' }),
  step(speech),
  step({ type: 'keyUp', key: 'talk' }, 400),
  step((s) => ({ type: 'final', utterance: s.utterance, text: 'what time is it', language: 'en', verdict: { kind: 'answer' } }), 50),
];
const sounds = step((s) => ({ type: 'firstSound', turn: s.turn?.id ?? 0 }), 300);
const latched: Told[] = [
  step({ type: 'keyDown', key: 'talk' }),
  step({ type: 'keyUp', key: 'talk' }, 50),
  step(speech),
  step((s) => ({ type: 'partial', utterance: s.utterance, text: 'what time is it', stable: true })),
  step({ type: 'speechPause', pauseMs: 100 }, 400),
];
const block = fc.constantFrom<Told[]>(
  talk,
  [...talk, sounds],
  [...talk, sounds, step(speech, 1_000)],
  [...talk, step(speech, 200)],
  latched,
);
const story = fc
  .array(fc.oneof({ weight: 8, arbitrary: told.map((each) => [each]) }, { weight: 2, arbitrary: block }), {
    minLength: 1,
    maxLength: 40,
    size: 'max',
  })
  .map((list) => [...arming, ...list.flat()]);

/** Plays a list and calls back after each step. */
function play(
  from: VoiceState,
  list: readonly Told[],
  after: (before: VoiceState, step: ReturnType<typeof reduceVoice>, input: VoiceInput, now: number) => void,
): { state: VoiceState; now: number } {
  let state = from;
  let now = 1_000;
  for (const each of list) {
    now += each.waitMs;
    const input = each.make(state, each.age);
    const step = reduceVoice(freeze(state), input, now);
    after(state, step, input, now);
    state = step.state;
  }
  return { state, now };
}

/** Whatever the reducer writes to it would throw. */
function freeze(state: VoiceState): VoiceState {
  for (const value of Object.values(state)) if (typeof value === 'object' && value !== null) Object.freeze(value);
  return Object.freeze(state);
}

const runs = { numRuns: 150 };

describe('any list of inputs', () => {
  it('takes at most one rule for each state and input', () => {
    verifies('VO-28', 'VO-29');
    fc.assert(
      fc.property(start, story, (from, list) => {
        play(from, list, (before, _step, input, now) => {
          if (isStale(before, input)) return;
          const rows = voiceRules.filter((rule) => rule.takes(before, input, now)).map((rule) => rule.row);
          expect(rows.length, `${before.phase} × ${input.type}: rows ${rows.join(', ')}`).toBeLessThan(2);
        });
      }),
      runs,
    );
  });

  it('gives the same states and effects again', () => {
    verifies('VO-28', 'VO-29');
    fc.assert(
      fc.property(start, story, (from, list) => {
        const once: unknown[] = [];
        const again: unknown[] = [];
        play(from, list, (_before, step) => once.push(step));
        play(structuredClone(from), list, (_before, step) => again.push(step));
        expect(again).toEqual(once);
      }),
      { numRuns: 100 },
    );
  });

  it('never opens the microphone while off, failed or muted, nor a second microphone, recogniser or lease', () => {
    verifies('VO-29');
    fc.assert(
      fc.property(start, story, (from, list) => {
        const open = { mic: false, asr: 0, lease: 0 };
        play(from, list, (_before, { state, effects }) => {
          for (const effect of effects) {
            if (effect.do === 'openMic') {
              expect(open.mic).toBe(false);
              open.mic = true;
            } else if (effect.do === 'closeMic') open.mic = false;
            else if (effect.do === 'openAsr') {
              expect(open.asr).toBe(0);
              open.asr = effect.utterance;
            } else if (effect.do === 'closeAsr') {
              expect(open.asr).toBe(effect.utterance);
              open.asr = 0;
            } else if (effect.do === 'takeLeases') {
              expect(open.lease).toBe(0);
              open.lease = effect.lease;
            } else if (effect.do === 'releaseLeases' && effect.lease === open.lease) open.lease = 0;
            else if (effect.do === 'flushAsr') expect(open.asr).toBe(effect.utterance);
          }
          expect(open.mic).toBe(state.micOpen);
          expect(open.asr !== 0).toBe(state.asrOpen);
          if (state.phase === 'off' || state.phase === 'failed') expect(open).toEqual({ mic: false, asr: 0, lease: 0 });
          if (state.muted) expect(open.mic).toBe(false);
        });
      }),
      runs,
    );
  });

  it('lets nothing but a cue sound outside speaking, and nothing of a cancelled turn', () => {
    verifies('VO-29');
    fc.assert(
      fc.property(start, story, (from, list) => {
        let sounds: number | null = null;
        let paused = false;
        const cancelled = new Set<number>();
        play(from, list, (_before, { state, effects }, input) => {
          if (input.type === 'drained' && input.turn === sounds) sounds = null;
          for (const effect of effects) {
            if (effect.do === 'cancelTurn') cancelled.add(effect.turn);
            else if (effect.do === 'flushPlayback') [sounds, paused] = [null, false];
            else if (effect.do === 'pausePlayback') paused = true;
            else if (effect.do === 'resumePlayback') paused = false;
            else if (effect.do === 'say') sounds = effect.turn;
            else if (effect.do === 'mark' && effect.name === 'firstAudioPlayed' && input.type === 'firstSound') sounds = input.turn;
          }
          if (state.phase === 'speaking') expect(paused).toBe(false);
          else if (state.phase === 'held') expect(paused).toBe(true);
          else expect(sounds).toBeNull();
          if (sounds !== null) expect(cancelled.has(sounds)).toBe(false);
        });
      }),
      runs,
    );
  });

  it('ends each utterance at most once in commit, insert or ignored, and commits nothing without words', () => {
    verifies('VO-29');
    fc.assert(
      fc.property(start, story, (from, list) => {
        const ends = new Map<number, number>();
        const turns = new Set<number>();
        play(from, list, (_before, { state, effects }) => {
          for (const effect of effects) {
            if (effect.do === 'openAsr') ends.set(effect.utterance, 0);
            if (effect.do !== 'commit' && effect.do !== 'insert' && effect.do !== 'ignored' && effect.do !== 'drop') continue;
            ends.set(effect.utterance, (ends.get(effect.utterance) ?? 99) + 1);
            if (effect.do === 'commit') {
              expect(effect.text.trim()).not.toBe('');
              // A turn is begun once; only steering goes into one that exists.
              expect(turns.has(effect.turn)).toBe(effect.steer !== null);
              turns.add(effect.turn);
            }
          }
          for (const [id, count] of ends) {
            expect(count).toBeLessThan(2);
            if (id < state.utterance || !state.asrOpen) continue;
            expect(count).toBe(0);
          }
        });
      }),
      runs,
    );
  });

  it('leaves only timers that the state has a use for', () => {
    const uses: Record<string, readonly string[]> = {
      arm: ['arming'],
      window: ['listening'],
      silence: ['pausing'],
      flush: ['committing'],
      longest: ['listening', 'hearing', 'pausing'],
      guard: ['thinking'],
      wordWindow: ['held'],
    };
    fc.assert(
      fc.property(start, story, (from, list) => {
        play(from, list, (_before, { state }) => {
          for (const name of Object.keys(state.timers)) {
            if (name === 'idle') expect(['off', 'failed']).not.toContain(state.phase);
            else expect(uses[name], `${name} in ${state.phase}`).toContain(state.phase);
          }
        });
      }),
      runs,
    );
  });

  it('cancel silences and frees every state at once', () => {
    fc.assert(
      fc.property(start, story, (from, list) => {
        const { state, now } = play(from, list, () => {});
        const before = state.phase;
        const step = reduceVoice(state, { type: 'cancel', reason: 'user-cancel' }, now);
        expect(step.state.phase).not.toBe('speaking');
        expect(step.state.phase).not.toBe('held');
        if (['thinking', 'speaking', 'held'].includes(before)) {
          expect(step.effects.some((effect) => effect.do === 'flushPlayback')).toBe(true);
          expect(step.state.turn?.status).not.toBe('work');
        }
        if (before !== 'arming') expect(step.state.key).toBe('none');
        expect(step.state.asrOpen).toBe(false);
      }),
      runs,
    );
  });

  it('has a way out of every state: timers, and the end of the answer, lead to standby, off or failed', () => {
    verifies('VO-29');
    fc.assert(
      fc.property(start, story, (from, list) => {
        let { state, now } = play(from, list, () => {});
        const seen: string[] = [];
        for (let step = 0; step < 60 && !['standby', 'off', 'failed'].includes(state.phase); step += 1) {
          seen.push(state.phase);
          now += 1_000_000;
          const name = TIMER_NAMES.find((each) => state.timers[each] !== undefined);
          const reply = state.phase === 'thinking' || state.phase === 'speaking';
          // The stall rules of agent and playback (TU-13, VO-65) are the timers of these two.
          const input: VoiceInput | null =
            reply && !state.guarded
              ? state.phase === 'thinking' && state.turn?.status === 'work'
                ? { type: 'replyFailed', turn: state.turn.id, code: 'TIMEOUT' }
                : { type: 'drained', turn: turn(state, 0) }
              : name !== undefined
                ? { type: 'timer', name, id: state.timers[name] ?? 0 }
                : null;
          if (input === null) break;
          state = reduceVoice(state, input, now).state;
        }
        expect(['standby', 'off', 'failed'], seen.join(' → ')).toContain(state.phase);
      }),
      runs,
    );
  });
});
