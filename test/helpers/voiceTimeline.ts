import { readFileSync, writeFileSync } from 'node:fs';
import type { VoiceStepSeen } from '../../src/runtime/voice/ports.ts';
import { reduceVoice } from '../../src/runtime/voice/turn/reduce.ts';
import type { VoiceState } from '../../src/runtime/voice/turn/state.ts';

/** The steps of a voice, as lines of JSON (VO-29): what came, when, and what followed. */
export function writeTimeline(file: string, steps: readonly VoiceStepSeen[]): void {
  writeFileSync(file, steps.map((step) => `${JSON.stringify(step)}\n`).join(''));
}

export function readTimeline(file: string): VoiceStepSeen[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as VoiceStepSeen);
}

/** The same inputs at the same times through the reducer, without any of the world around it. */
export function replay(initial: VoiceState, steps: readonly VoiceStepSeen[]): VoiceStepSeen[] {
  let state = initial;
  return steps.map(({ atMs, input }) => {
    const step = reduceVoice(state, input, atMs);
    state = step.state;
    return { atMs, input, state, effects: step.effects };
  });
}
