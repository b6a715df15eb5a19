import type { ChildFrame, ParentFrame } from './frames.ts';
import type { ProcessExit } from './processStarter.ts';

/** Where a supervised process is in its life. `broken`: the breaker is open, starts are refused until `notBeforeMs`. */
export type Phase = 'idle' | 'starting' | 'ready' | 'stopping' | 'exited' | 'broken';

/** In which part of its life the child failed. */
export type Stage = 'start' | 'run' | 'stop';

/** Why a child is not, or no longer, at hand. */
export type Failure =
  | { readonly kind: 'crashed'; readonly stage: Stage; readonly exit: ProcessExit }
  | { readonly kind: 'timeout'; readonly stage: Stage }
  | { readonly kind: 'protocol'; readonly stage: Stage }
  /** The child said that it cannot come up. */
  | { readonly kind: 'failed'; readonly error: { readonly code: string; readonly message: string; readonly data: Record<string, unknown> } }
  /** The owner of a session ended the child, e.g. since a call ran past its deadline; the owner knows the error. */
  | { readonly kind: 'ended' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'breaker'; readonly retryAfterMs: number };

export type SupervisionState = {
  readonly phase: Phase;
  /** Of the present or the last child; rises with each start. */
  readonly generation: number;
  /** Someone waits for a ready child. */
  readonly wanted: boolean;
  /** Infrastructure failures in a row. */
  readonly failures: number;
  /** Monotonic ms before which no new child starts. */
  readonly notBeforeMs: number;
  readonly busy: boolean;
  readonly pingNumber: number;
  readonly pingOpen: boolean;
  readonly goodbye: boolean;
  readonly killed: boolean;
  /** While stopping: why; `null` = it was asked to. */
  readonly ending: Failure | null;
};

export const TIMERS = ['start', 'ping', 'pong', 'busy', 'stop', 'restart', 'healthy'] as const;
export type TimerName = (typeof TIMERS)[number];

export type Input =
  | { readonly type: 'ensure' }
  | { readonly type: 'frame'; readonly frame: ChildFrame }
  /** The child sent something that is no frame. */
  | { readonly type: 'malformed'; readonly generation: number }
  | { readonly type: 'exited'; readonly generation: number; readonly exit: ProcessExit }
  | { readonly type: 'timer'; readonly name: TimerName; readonly generation: number }
  /** A session's owner ends the child. */
  | { readonly type: 'end'; readonly generation: number }
  /** A command was answered: failures are not in a row any more. */
  | { readonly type: 'succeeded'; readonly generation: number }
  | { readonly type: 'stop' }
  /** A person asked to try again: closes the breaker. */
  | { readonly type: 'reset' };

export type Effect =
  | { readonly do: 'start'; readonly generation: number }
  | { readonly do: 'post'; readonly frame: ParentFrame }
  | { readonly do: 'kill' }
  | { readonly do: 'timer'; readonly name: TimerName; readonly ms: number }
  | { readonly do: 'untimer'; readonly name: TimerName }
  /** The child is ready: those who wait get a session. */
  | { readonly do: 'open'; readonly generation: number }
  /** The open session is over, and everyone in it gets this failure once. */
  | { readonly do: 'close'; readonly generation: number; readonly failure: Failure }
  /** Those who wait for a ready child get this failure. */
  | { readonly do: 'refuse'; readonly failure: Failure }
  | { readonly do: 'deliver'; readonly body: unknown }
  | { readonly do: 'log'; readonly event: 'started' | 'ready' | 'exited' | 'failed' | 'killed' | 'broken'; readonly failure?: Failure };

/** All ms. `restartDelaysMs[n]` is the wait after the (n+1)-th failure in a row. */
export type SupervisionLimits = {
  readonly startMs: number;
  readonly pingEveryMs: number;
  readonly pingDeadlineMs: number;
  readonly busyCapMs: number;
  readonly stopWaitMs: number;
  readonly healthyMs: number;
  readonly restartDelaysMs: readonly number[];
  readonly breakerFailures: number;
  readonly breakerRetryMs: number;
};

/**
 * Numbers of models page 11 (start 10 s) and of the architecture page (breaker after three). A native call may be silent for as long as
 * the load deadline of a 50 GB file, hence the busy cap.
 */
export const supervisionLimits: SupervisionLimits = {
  startMs: 10_000,
  pingEveryMs: 5_000,
  pingDeadlineMs: 15_000,
  busyCapMs: 600_000,
  stopWaitMs: 3_000,
  healthyMs: 60_000,
  restartDelaysMs: [250, 1_000],
  breakerFailures: 3,
  breakerRetryMs: 30_000,
};

export const initialSupervision: SupervisionState = {
  phase: 'idle',
  generation: 0,
  wanted: false,
  failures: 0,
  notBeforeMs: 0,
  busy: false,
  pingNumber: 0,
  pingOpen: false,
  goodbye: false,
  killed: false,
  ending: null,
};
