import { AppError, fromWire } from '../errors/appError.ts';
import { assertNever } from '../util/assertNever.ts';
import type { Clock } from '../util/clock.ts';
import { type Deferred, deferred } from '../util/deferred.ts';
import { ChildFrame } from './frames.ts';
import type { ProcessLink, ProcessSpec, ProcessStarter } from './processStarter.ts';
import { supervise } from './reducer.ts';
import {
  type Effect,
  type Failure,
  type Input,
  initialSupervision,
  type Phase,
  type SupervisionLimits,
  type SupervisionState,
  supervisionLimits,
  type TimerName,
} from './state.ts';

/** One ready child. All that is asked of it ends with it: `onEnd` comes exactly once. */
export type Session = {
  readonly generation: number;
  readonly pid: number | null;
  /** Sends a body of the protocol above; after the end it does nothing. `transfer` goes to the starter's link (ports). */
  post(body: unknown, transfer?: readonly unknown[]): void;
  /** Bodies from the child, to every listener, in order; none after the end. */
  onBody(listener: (body: unknown) => void): void;
  /** Why the child is gone. A listener that comes too late hears it at once. */
  onEnd(listener: (error: AppError) => void): void;
  /** Kills the child; everyone in the session gets `error`. */
  end(error: AppError): void;
  /** Says that a command was answered, so that failures are not in a row any more. */
  succeeded(): void;
};

export type SupervisorStatus = {
  readonly phase: Phase;
  readonly generation: number;
  readonly pid: number | null;
  /** Starts after the first. */
  readonly restarts: number;
  /** Code of the last failure; `null` after an orderly life. */
  readonly lastError: string | null;
};

export type Supervisor = {
  /**
   * The ready child; starts one when there is none. Aborting gives up the wait, not the child.
   *
   * @throws AppError what `explain` makes of the failure, or CANCELLED.
   */
  ensure(signal?: AbortSignal): Promise<Session>;
  /** Ask, wait, kill; resolves when no child lives. A later `ensure` starts a new one. */
  stop(): Promise<void>;
  /** `stop`, and refuses every later `ensure` with SHUTTING_DOWN. */
  dispose(): Promise<void>;
  status(): SupervisorStatus;
  onChange(listener: (status: SupervisorStatus) => void): void;
  /** Closes the breaker and forgets failures: a person asked to try again. */
  reset(): void;
};

export type SupervisionLog = (event: string, fields: Readonly<Record<string, string | number | boolean | null>>) => void;

/** At most this many callers wait for one start; more get ENGINE_STARTING. */
const MAX_WAITING = 256;

/**
 * Runs the reducer over a real child. Owns at most one child at a time and never repeats a command.
 *
 * @param explain  what a failure is called; default: the ENGINE_* codes with `spec.name` as the engine key.
 */
export function createSupervisor(deps: {
  starter: ProcessStarter;
  spec: ProcessSpec;
  clock: Clock;
  log: SupervisionLog;
  limits?: Partial<SupervisionLimits>;
  explain?: (failure: Failure) => AppError;
}): Supervisor {
  const limits = { ...supervisionLimits, ...deps.limits };
  const explain = deps.explain ?? engineFailure(deps.spec.name);
  let state: SupervisionState = initialSupervision;
  let link: ProcessLink | null = null;
  let session: OpenSession | null = null;
  let lastError: string | null = null;
  let disposed = false;
  // The error that a session's owner gave to `end`; the reducer knows only that it was ended.
  let endedWith: AppError | null = null;
  const waiting = new Set<Deferred<Session>>();
  const timers = new Map<TimerName, () => void>();
  const listeners = new Set<(status: SupervisorStatus) => void>();
  let settled: Deferred<void>[] = [];
  const inputs: Input[] = [];
  let running = false;

  const status = (): SupervisorStatus => ({
    phase: state.phase,
    generation: state.generation,
    pid: link?.pid() ?? null,
    restarts: Math.max(0, state.generation - 1),
    lastError,
  });

  // Effects may cause inputs (a link that fails at once); they wait their turn, so that the reducer is never re-entered.
  function dispatch(input: Input): void {
    inputs.push(input);
    if (running) return;
    running = true;
    try {
      for (let next = inputs.shift(); next !== undefined; next = inputs.shift()) {
        const before = state.phase;
        const step = supervise(state, next, deps.clock.monotonicMs(), limits);
        state = step.state;
        for (const effect of step.effects) run(effect);
        if (state.phase !== before) changed();
      }
    } finally {
      running = false;
    }
  }

  function changed(): void {
    const now = status();
    for (const listener of listeners) listener(now);
    if (alive()) return;
    const done = settled;
    settled = [];
    for (const one of done) one.resolve();
  }

  const alive = () => state.phase === 'starting' || state.phase === 'ready' || state.phase === 'stopping';

  function run(effect: Effect): void {
    switch (effect.do) {
      case 'start':
        return start(effect.generation);
      case 'post':
        link?.post(effect.frame);
        return;
      case 'kill':
        link?.kill();
        return;
      case 'timer': {
        timers.get(effect.name)?.();
        const generation = state.generation;
        const cancel = deps.clock.setTimer(effect.ms, () => {
          timers.delete(effect.name);
          dispatch({ type: 'timer', name: effect.name, generation });
        });
        timers.set(effect.name, cancel);
        return;
      }
      case 'untimer':
        timers.get(effect.name)?.();
        timers.delete(effect.name);
        return;
      case 'open': {
        session ??= openSession(effect.generation);
        const ready = session.face;
        const all = [...waiting];
        waiting.clear();
        for (const one of all) one.resolve(ready);
        return;
      }
      case 'close': {
        const error = name(effect.failure);
        const closing = session;
        session = null;
        closing?.close(error);
        return;
      }
      case 'refuse': {
        const error = name(effect.failure);
        const all = [...waiting];
        waiting.clear();
        for (const one of all) one.reject(error);
        return;
      }
      case 'deliver':
        session?.deliver(effect.body);
        return;
      case 'log':
        deps.log(`process.${effect.event}`, {
          process: deps.spec.name,
          generation: state.generation,
          pid: link?.pid() ?? null,
          failure: effect.failure?.kind ?? null,
          code: effect.failure?.kind === 'crashed' ? effect.failure.exit.code : null,
          signal: effect.failure?.kind === 'crashed' ? effect.failure.exit.signal : null,
        });
        if (effect.event === 'exited') {
          lastError = effect.failure === undefined ? null : name(effect.failure).code;
          endedWith = null;
        }
        return;
      default:
        assertNever(effect);
    }
  }

  function name(failure: Failure): AppError {
    return failure.kind === 'ended' && endedWith !== null ? endedWith : explain(failure);
  }

  function start(generation: number): void {
    const started = deps.starter.start(deps.spec);
    link = started;
    started.onMessage((message) => {
      const frame = ChildFrame.safeParse(message);
      if (frame.success) dispatch({ type: 'frame', frame: frame.data });
      else dispatch({ type: 'malformed', generation });
    });
    started.onExit((exit) => {
      if (link === started) link = null;
      dispatch({ type: 'exited', generation, exit });
    });
  }

  function openSession(generation: number): OpenSession {
    const own = link;
    const bodies = new Set<(body: unknown) => void>();
    const ends = new Set<(error: AppError) => void>();
    let ended: AppError | null = null;
    return {
      deliver(body) {
        for (const listener of bodies) listener(body);
      },
      close(error) {
        ended = error;
        bodies.clear();
        const all = [...ends];
        ends.clear();
        for (const listener of all) listener(error);
      },
      face: {
        generation,
        pid: own?.pid() ?? null,
        post(body, transfer) {
          if (ended === null) own?.post({ k: 'app', generation, body }, transfer);
        },
        onBody(listener) {
          if (ended === null) bodies.add(listener);
        },
        onEnd(listener) {
          if (ended === null) ends.add(listener);
          else listener(ended);
        },
        end(error) {
          if (ended !== null) return;
          endedWith = error;
          dispatch({ type: 'end', generation });
        },
        succeeded() {
          dispatch({ type: 'succeeded', generation });
        },
      },
    };
  }

  async function stop(): Promise<void> {
    dispatch({ type: 'stop' });
    if (!alive()) return;
    const done = deferred<void>();
    settled.push(done);
    await done.promise;
  }

  return {
    async ensure(signal) {
      if (disposed) throw new AppError('SHUTTING_DOWN');
      if (signal?.aborted) throw new AppError('CANCELLED');
      if (session !== null) return session.face;
      if (waiting.size >= MAX_WAITING) throw new AppError('ENGINE_STARTING', { engineKey: deps.spec.name });
      const wait = deferred<Session>();
      waiting.add(wait);
      const give = () => {
        waiting.delete(wait);
        wait.reject(new AppError('CANCELLED'));
      };
      signal?.addEventListener('abort', give, { once: true });
      dispatch({ type: 'ensure' });
      try {
        return await wait.promise;
      } finally {
        signal?.removeEventListener('abort', give);
      }
    },
    stop,
    async dispose() {
      disposed = true;
      await stop();
    },
    status,
    onChange(listener) {
      listeners.add(listener);
    },
    reset() {
      lastError = null;
      dispatch({ type: 'reset' });
    },
  };
}

type OpenSession = { readonly face: Session; deliver(body: unknown): void; close(error: AppError): void };

/** The names of an engine's failures (models page, section 13). */
export function engineFailure(engineKey: string): (failure: Failure) => AppError {
  return (failure) => {
    switch (failure.kind) {
      case 'crashed':
        return new AppError('ENGINE_CRASHED', { engineKey, stage: failure.stage });
      case 'timeout':
        return new AppError('ENGINE_TIMEOUT', { engineKey, stage: failure.stage });
      case 'protocol':
        return new AppError('ENGINE_PROTOCOL', { engineKey, stage: failure.stage });
      case 'ended':
        return new AppError('ENGINE_FAULT', { engineKey, stage: 'run' });
      case 'failed':
        return fromWire(failure.error);
      case 'stopped':
        return new AppError('SHUTTING_DOWN');
      case 'breaker':
        return new AppError('ENGINE_BREAKER_OPEN', { engineKey, retryAfterMs: failure.retryAfterMs });
      default:
        return assertNever(failure);
    }
  };
}

/** The runtime's failures as main tells them to the page: it is not there now; a typed error of its own start stays as it is. */
export function runtimeFailure(failure: Failure): AppError {
  return failure.kind === 'failed' ? fromWire(failure.error) : new AppError('RUNTIME_UNAVAILABLE');
}
