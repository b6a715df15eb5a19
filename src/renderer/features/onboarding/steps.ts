import type { Settings } from '../../../shared/contract/settings.ts';

/** The four steps in their order (UX-17). */
export const steps = ['privacy', 'microphone', 'machine', 'talk'] as const satisfies readonly Settings['firstRun'][];
export type Step = (typeof steps)[number];

export const after = (step: Step): Settings['firstRun'] => steps[steps.indexOf(step) + 1] ?? 'done';
export const before = (step: Step): Step | null => steps[steps.indexOf(step) - 1] ?? null;

/** What each step is given: where it can go, and how a setting is kept. */
export type StepProps = {
  readonly settings: Settings;
  /** Stores settings; resolves with whether they are kept. The fault of one that is not is shown by the frame. */
  readonly keep: (change: Partial<Settings>) => Promise<boolean>;
  readonly go: (to: Settings['firstRun']) => void;
  /** The microphone was opened here before, so that opening it asks nobody anything. */
  readonly allowed: boolean;
  readonly onAllowed: () => void;
};
