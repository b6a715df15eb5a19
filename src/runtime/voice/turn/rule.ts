import { VOICE_PHASES, type VoicePhase } from '../../../shared/domain/voice.ts';
import type { Draft } from './draft.ts';
import type { VoiceInput, VoiceState } from './state.ts';

export type InputType = VoiceInput['type'];
type InputOf<T extends InputType> = Extract<VoiceInput, { type: T }>;

/** One line of table 4.2. Several rules may carry one row number; at most one rule of all may take a state and input. */
export type Rule = {
  readonly row: number;
  readonly phases: readonly VoicePhase[];
  readonly inputs: readonly InputType[];
  takes(state: VoiceState, input: VoiceInput, now: number): boolean;
  apply(draft: Draft, input: VoiceInput): void;
};

export function rule<T extends InputType>(
  row: number,
  phases: readonly VoicePhase[],
  inputs: readonly T[],
  when: (state: VoiceState, input: InputOf<T>, now: number) => boolean,
  then: (draft: Draft, input: InputOf<T>) => void,
): Rule {
  const isOurs = (input: VoiceInput): input is InputOf<T> => (inputs as readonly InputType[]).includes(input.type);
  return {
    row,
    phases,
    inputs,
    takes: (state, input, now) => phases.includes(state.phase) && isOurs(input) && when(state, input, now),
    apply: (draft, input) => {
      if (isOurs(input)) then(draft, input);
    },
  };
}

export const always = (): boolean => true;
export const same = (): void => {};

/** Every state but these. */
export const allBut = (...phases: VoicePhase[]): VoicePhase[] => VOICE_PHASES.filter((phase) => !phases.includes(phase));
