import { assertNever } from '../util/assertNever.ts';
import type { ChildFrame } from './frames.ts';
import type { ProcessExit } from './processStarter.ts';
import { type Effect, type Failure, type Input, type Stage, type SupervisionLimits, type SupervisionState, TIMERS } from './state.ts';

export type Step = { readonly state: SupervisionState; readonly effects: readonly Effect[] };

/**
 * The life of a supervised process as a pure function (architecture page, section 1): idle → starting → ready → stopping → exited, and
 * `broken` while the breaker is open. It never starts a child while an older one may live, drops frames of other generations, and ends
 * an open session exactly once.
 *
 * @param nowMs  monotonic ms.
 */
export function supervise(state: SupervisionState, input: Input, nowMs: number, limits: SupervisionLimits): Step {
  switch (input.type) {
    case 'ensure':
      return onEnsure(state, nowMs, limits);
    case 'frame':
      return input.frame.generation === state.generation ? onFrame(state, input.frame, limits) : stay(state);
    case 'malformed':
      return input.generation === state.generation ? fail(state, { kind: 'protocol', stage: stageOf(state) }, limits) : stay(state);
    case 'end':
      return input.generation === state.generation ? fail(state, { kind: 'ended' }, limits) : stay(state);
    case 'exited':
      return input.generation === state.generation ? onExited(state, input.exit, nowMs, limits) : stay(state);
    case 'timer':
      return input.generation === state.generation ? onTimer(state, input.name, nowMs, limits) : stay(state);
    case 'succeeded':
      return input.generation === state.generation && state.phase === 'ready' ? stay({ ...state, failures: 0 }) : stay(state);
    case 'stop':
      return onStop(state, limits);
    case 'reset':
      return stay({ ...state, failures: 0, notBeforeMs: 0, phase: state.phase === 'broken' ? 'exited' : state.phase });
    default:
      return assertNever(input);
  }
}

const stay = (state: SupervisionState): Step => ({ state, effects: [] });

function stageOf(state: SupervisionState): Stage {
  return state.phase === 'starting' ? 'start' : state.phase === 'stopping' ? 'stop' : 'run';
}

function begin(state: SupervisionState, limits: SupervisionLimits): Step {
  const generation = state.generation + 1;
  return {
    state: {
      ...state,
      phase: 'starting',
      generation,
      wanted: true,
      busy: false,
      pingNumber: 0,
      pingOpen: false,
      goodbye: false,
      killed: false,
      ending: null,
    },
    effects: [
      { do: 'untimer', name: 'restart' },
      { do: 'start', generation },
      { do: 'timer', name: 'start', ms: limits.startMs },
      { do: 'post', frame: { k: 'hello', generation } },
      { do: 'log', event: 'started' },
    ],
  };
}

function onEnsure(state: SupervisionState, nowMs: number, limits: SupervisionLimits): Step {
  const waitMs = state.notBeforeMs - nowMs;
  switch (state.phase) {
    case 'idle':
      return begin(state, limits);
    case 'exited':
      return waitMs <= 0
        ? begin(state, limits)
        : { state: { ...state, wanted: true }, effects: [{ do: 'timer', name: 'restart', ms: waitMs }] };
    case 'broken':
      return waitMs <= 0 ? begin(state, limits) : refuse(state, { kind: 'breaker', retryAfterMs: Math.ceil(waitMs) });
    case 'starting':
    case 'stopping':
      return stay({ ...state, wanted: true });
    case 'ready':
      return { state, effects: [{ do: 'open', generation: state.generation }] };
    default:
      return assertNever(state.phase);
  }
}

function refuse(state: SupervisionState, failure: Failure): Step {
  return { state: { ...state, wanted: false }, effects: [{ do: 'refuse', failure }] };
}

function onFrame(state: SupervisionState, frame: ChildFrame, limits: SupervisionLimits): Step {
  if (state.phase !== 'starting' && state.phase !== 'ready') {
    return frame.k === 'goodbye' && state.phase === 'stopping' ? stay({ ...state, goodbye: true }) : stay(state);
  }
  switch (frame.k) {
    case 'ready':
      if (state.phase === 'ready') return fail(state, { kind: 'protocol', stage: 'run' }, limits);
      return {
        state: { ...state, phase: 'ready', wanted: false },
        effects: [
          { do: 'untimer', name: 'start' },
          { do: 'timer', name: 'ping', ms: limits.pingEveryMs },
          { do: 'timer', name: 'healthy', ms: limits.healthyMs },
          { do: 'log', event: 'ready' },
          { do: 'open', generation: state.generation },
        ],
      };
    case 'app':
      if (state.phase === 'starting') return fail(state, { kind: 'protocol', stage: 'start' }, limits);
      // What a busy child sends shows that its native call moves: the cap is on silence, not on a long answer.
      return {
        state,
        effects: [
          { do: 'deliver', body: frame.body },
          ...(state.busy ? [{ do: 'timer', name: 'busy', ms: limits.busyCapMs } as const] : []),
        ],
      };
    case 'pong':
      if (!state.pingOpen || frame.n !== state.pingNumber) return stay(state);
      return {
        state: { ...state, pingOpen: false },
        effects: [
          { do: 'untimer', name: 'pong' },
          { do: 'timer', name: 'ping', ms: limits.pingEveryMs },
        ],
      };
    case 'busy':
      // While starting the start deadline is the rule: a child that is always busy must still come up in time.
      if (state.phase === 'starting') return stay(state);
      return {
        state: { ...state, busy: true, pingOpen: false },
        effects: [
          { do: 'untimer', name: 'ping' },
          { do: 'untimer', name: 'pong' },
          { do: 'timer', name: 'busy', ms: limits.busyCapMs },
        ],
      };
    case 'idle':
      if (!state.busy) return stay(state);
      return {
        state: { ...state, busy: false },
        effects: [
          { do: 'untimer', name: 'busy' },
          { do: 'timer', name: 'ping', ms: limits.pingEveryMs },
        ],
      };
    case 'failed':
      return fail(state, { kind: 'failed', error: frame.error }, limits);
    case 'goodbye':
      return stay({ ...state, goodbye: true });
    default:
      return assertNever(frame);
  }
}

const untimers: readonly Effect[] = TIMERS.map((name) => ({ do: 'untimer', name }));

/** Tells those concerned now, not at the exit: a hung child may take its time to die. */
function tell(state: SupervisionState, failure: Failure): Effect[] {
  return state.phase === 'ready' ? [{ do: 'close', generation: state.generation, failure }] : [{ do: 'refuse', failure }];
}

/** Ends a living child because of a failure. One that said itself why it fails may go in peace; any other is killed at once. */
function fail(state: SupervisionState, failure: Failure, limits: SupervisionLimits): Step {
  if (state.phase !== 'starting' && state.phase !== 'ready') return stay(state);
  const polite = failure.kind === 'failed';
  return {
    state: { ...state, phase: 'stopping', wanted: false, busy: false, pingOpen: false, killed: !polite, ending: failure },
    effects: [
      ...untimers,
      polite ? { do: 'post', frame: { k: 'stop', generation: state.generation } } : { do: 'kill' },
      { do: 'timer', name: 'stop', ms: limits.stopWaitMs },
      { do: 'log', event: 'failed', failure },
      ...tell(state, failure),
    ],
  };
}

function onStop(state: SupervisionState, limits: SupervisionLimits): Step {
  if (state.phase === 'starting' || state.phase === 'ready') {
    return {
      state: { ...state, phase: 'stopping', wanted: false, busy: false, pingOpen: false, ending: null },
      effects: [
        ...untimers,
        { do: 'post', frame: { k: 'stop', generation: state.generation } },
        { do: 'timer', name: 'stop', ms: limits.stopWaitMs },
        ...tell(state, { kind: 'stopped' }),
      ],
    };
  }
  const effects: Effect[] = state.phase === 'stopping' ? [] : [{ do: 'untimer', name: 'restart' }];
  return { state: { ...state, wanted: false }, effects: [...effects, { do: 'refuse', failure: { kind: 'stopped' } }] };
}

function onTimer(state: SupervisionState, name: (typeof TIMERS)[number], nowMs: number, limits: SupervisionLimits): Step {
  switch (name) {
    case 'start':
      return state.phase === 'starting' ? fail(state, { kind: 'timeout', stage: 'start' }, limits) : stay(state);
    case 'ping': {
      if (state.phase !== 'ready' || state.busy || state.pingOpen) return stay(state);
      const n = state.pingNumber + 1;
      return {
        state: { ...state, pingNumber: n, pingOpen: true },
        effects: [
          { do: 'post', frame: { k: 'ping', generation: state.generation, n } },
          { do: 'timer', name: 'pong', ms: limits.pingDeadlineMs },
        ],
      };
    }
    case 'pong':
      return state.phase === 'ready' && state.pingOpen && !state.busy
        ? fail(state, { kind: 'timeout', stage: 'run' }, limits)
        : stay(state);
    case 'busy':
      return state.phase === 'ready' && state.busy ? fail(state, { kind: 'timeout', stage: 'run' }, limits) : stay(state);
    case 'healthy':
      return state.phase === 'ready' ? stay({ ...state, failures: 0 }) : stay(state);
    case 'stop':
      if (state.phase !== 'stopping') return stay(state);
      // Again and again: until the exit event comes nothing new may start.
      return {
        state: { ...state, killed: true },
        effects: [{ do: 'kill' }, { do: 'timer', name: 'stop', ms: limits.stopWaitMs }, { do: 'log', event: 'killed' }],
      };
    case 'restart':
      return state.phase === 'exited' && state.wanted ? onEnsure(state, nowMs, limits) : stay(state);
    default:
      return assertNever(name);
  }
}

/** What the exit means: `null` when it was orderly. Code 0 without a goodbye is a crash (an abort in a utilityProcess reports 0). */
function verdict(state: SupervisionState, exit: ProcessExit): Failure | null {
  if (state.phase === 'stopping') {
    if (state.ending !== null) return state.ending;
    if (state.killed) return { kind: 'timeout', stage: 'stop' };
  }
  return state.goodbye ? null : { kind: 'crashed', stage: stageOf(state), exit };
}

function onExited(state: SupervisionState, exit: ProcessExit, nowMs: number, limits: SupervisionLimits): Step {
  if (state.phase !== 'starting' && state.phase !== 'ready' && state.phase !== 'stopping') return stay(state);
  const failure = verdict(state, exit);
  const failures = failure === null ? state.failures : state.failures + 1;
  const broken = failure !== null && failures >= limits.breakerFailures;
  const delayMs = failure === null ? 0 : broken ? limits.breakerRetryMs : (limits.restartDelaysMs[failures - 1] ?? 0);
  // A wish that came while the old child was stopping outlives it; one that this exit disappointed does not.
  const wanted = state.phase === 'stopping' && state.wanted;
  const told: Failure = failure ?? { kind: 'crashed', stage: stageOf(state), exit };
  const after: SupervisionState = {
    ...state,
    phase: broken ? 'broken' : 'exited',
    wanted: false,
    failures,
    notBeforeMs: nowMs + delayMs,
    busy: false,
    pingOpen: false,
    ending: failure,
  };
  const effects: Effect[] = [
    ...untimers,
    { do: 'log', event: 'exited', ...(failure === null ? {} : { failure }) },
    ...(broken ? [{ do: 'log', event: 'broken' } as const] : []),
    ...(state.phase === 'stopping' ? [] : tell(state, told)),
  ];
  if (!wanted) return { state: after, effects };
  const next = onEnsure(after, nowMs, limits);
  return { state: next.state, effects: [...effects, ...next.effects] };
}
