import { reduceVoice } from '../../../../src/runtime/voice/turn/reduce.ts';
import {
  defaultVoiceSettings,
  initialVoice,
  type TimerName,
  type VoiceEffect,
  type VoiceInput,
  type VoiceSettings,
  type VoiceState,
} from '../../../../src/runtime/voice/turn/state.ts';
import type { VoiceMode } from '../../../../src/shared/domain/voice.ts';

type Options = { mode?: VoiceMode; muted?: boolean; settings?: Partial<VoiceSettings>; now?: number };

/** Drives the reducer by hand: numbers that effects carried are filled in, time moves by `wait`. */
export function voiceLife(options: Options = {}) {
  const settings = { ...defaultVoiceSettings, ...options.settings };
  let state: VoiceState = initialVoice({
    settings,
    ...(options.mode === undefined ? {} : { mode: options.mode }),
    ...(options.muted === undefined ? {} : { muted: options.muted }),
  });
  let now = options.now ?? 10_000;
  let last: readonly VoiceEffect[] = [];
  let rows: readonly number[] = [];
  const effects: VoiceEffect[] = [];
  const me = {
    get state() {
      return state;
    },
    get phase() {
      return state.guarded ? 'guarded' : state.phase;
    },
    get now() {
      return now;
    },
    /** Effects of the last input. */
    get last() {
      return last;
    },
    /** Rows that took the last input. */
    get rows() {
      return rows;
    },
    effects,
    names: () => last.map((effect) => effect.do),
    notices: () => last.flatMap((effect) => (effect.do === 'notice' ? [effect.code] : [])),
    cues: () => last.flatMap((effect) => (effect.do === 'cue' ? [effect.kind] : [])),
    of<T extends VoiceEffect['do']>(name: T): Extract<VoiceEffect, { do: T }>[] {
      return last.filter((effect): effect is Extract<VoiceEffect, { do: T }> => effect.do === name);
    },
    wait(ms: number) {
      now += ms;
      return me;
    },
    send(...inputs: VoiceInput[]) {
      for (const input of inputs) {
        const step = reduceVoice(state, input, now);
        state = step.state;
        last = step.effects;
        rows = step.rows;
        effects.push(...step.effects);
      }
      return me;
    },
    timer: (name: TimerName) => me.send({ type: 'timer', name, id: state.timers[name] ?? -1 }),
    arm: () => me.send({ type: 'arm' }).send({ type: 'armed', lease: state.lease }),
    down: (key: 'talk' | 'dictate' = 'talk') => me.send({ type: 'keyDown', key }),
    up: (key: 'talk' | 'dictate' = 'talk') => me.send({ type: 'keyUp', key }),
    tap: (key: 'talk' | 'dictate' = 'talk') => me.down(key).wait(100).up(key),
    speak: (gate = true) => me.send({ type: 'speechStart', probability: 0.9, gate }),
    goOn: (gate = true) => me.send({ type: 'speechActive', gate }),
    pause: (pauseMs = 100) => me.send({ type: 'speechPause', pauseMs }),
    blip: () => me.send({ type: 'blip' }),
    partial: (text: string, stable = false) => me.send({ type: 'partial', utterance: state.utterance, text, stable }),
    endOfTurn: (probability: number) => me.send({ type: 'endOfTurn', utterance: state.utterance, probability }),
    final: (text: string, verdict: 'answer' | 'ignore' | 'nothing' = 'answer') =>
      me.send({
        type: 'final',
        utterance: state.utterance,
        text,
        language: 'en',
        verdict: verdict === 'ignore' ? { kind: 'ignore', reason: 'echo' } : { kind: verdict },
      }),
    words: (text: string) => me.send({ type: 'words', utterance: state.utterance, text }),
    backchannel: () => me.send({ type: 'backchannel', utterance: state.utterance, text: 'yeah' }),
    reply: (type: 'firstSound' | 'drained' | 'turnResumed') => me.send({ type, turn: (state.playing ?? state.turn)?.id ?? -1 }),
    replyDone: (hadSound: boolean) => me.send({ type: 'replyDone', turn: state.turn?.id ?? -1, hadSound }),
    replyFailed: () => me.send({ type: 'replyFailed', turn: state.turn?.id ?? -1, code: 'MODEL_FAILED' }),
    parked: (toBeSaid: boolean) => me.send({ type: 'turnParked', turn: state.turn?.id ?? -1, toBeSaid }),
    tool: (running: boolean) => me.send({ type: 'toolCall', turn: state.turn?.id ?? -1, running }),
    cancel: () => me.send({ type: 'cancel', reason: 'user-cancel' }),
    /** Armed, key held, words said, committed: the state is thinking. */
    ask: (text = 'what time is it') => me.down().speak().wait(1_000).up().final(text),
    /** The answer sounds. */
    answerSounds: () => me.ask().reply('firstSound'),
  };
  return me;
}
