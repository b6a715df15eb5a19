import type { AppError } from '../../shared/errors/appError.ts';
import type { LanguageModel } from '../inference/languageModel.ts';
import type { Clock, Logger } from '../platform/ports.ts';
import type { Store } from '../store/open.ts';
import type { Events } from './events.ts';
import type { Replies } from './replies.ts';
import type { Sessions } from './sessions.ts';
import type { Turns } from './turns.ts';

export type { Clock, Logger };

/** Where a turn gets its model from; compose fills it. */
export type ModelSource = {
  /** The model that answers now, loaded or not; null when none can. */
  current(): LanguageModel | null;
  /** Why `current` is null, as the failure that a turn shows: MODEL_NOT_INSTALLED, LOCAL_INFERENCE_UNAVAILABLE … */
  unavailable(): AppError;
};

/** Values of the sampler chain that a kernel may choose; what is left out is the model's default. `temperature` 0 = greedy. */
export type SamplingChoice = {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
};

export type AgentDeps = {
  readonly store: Store;
  readonly models: ModelSource;
  readonly clock: Clock;
  readonly log: Logger;
  /** Tests and evaluations only; else the model that answers knows what suits it. */
  readonly sampling?: SamplingChoice;
  /** Words for a point in time in the person's own zone, as the newest message carries them (CX-01). */
  readonly localTime?: (ms: number) => string;
};

/** What `recover` found at start (RE-02, RE-09). */
export type Recovery = {
  readonly resumed: number;
  readonly waiting: number;
  readonly cancelled: number;
  readonly queued: number;
  readonly sealed: number;
};

export type Agent = {
  readonly sessions: Sessions;
  readonly turns: Turns;
  readonly events: Events;
  readonly replies: Replies;
  /** Settles what the last runtime left behind and starts what waits. Called once, before the first caller is served. */
  recover(): Recovery;
  /** Orderly quit (RE-09): running turns stop within 5 s and stay interrupted, not cancelled. */
  [Symbol.asyncDispose](): Promise<void>;
};
