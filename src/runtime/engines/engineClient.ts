import type { z } from 'zod';
import { EngineReply } from '../../engine/contract/frames.ts';
import { engineLimits, languageMethods } from '../../engine/contract/language.ts';
import { prepareMethods } from '../../engine/contract/prepare.ts';
import { speechMethods } from '../../engine/contract/speech.ts';
import { AppError, fromWire } from '../../shared/errors/appError.ts';
import { codes } from '../../shared/errors/codes.ts';
import type { Session, Supervisor, SupervisorStatus } from '../../shared/supervision/supervisor.ts';
import { type Deferred, deferred } from '../../shared/util/deferred.ts';
import type { Clock, LogField, Logger } from '../platform/ports.ts';

const methods = { ...languageMethods, ...speechMethods, ...prepareMethods } as const;
type Methods = typeof methods;
export type EngineMethod = keyof Methods;
export type EngineParams<M extends EngineMethod> = z.input<Methods[M]['params']>;
export type EngineResult<M extends EngineMethod> = z.infer<Methods[M]['result']>;
export type EngineChunk<M extends EngineMethod> = z.infer<Methods[M]['chunk']>;

/** How long an engine may be silent in a call before it counts as hung, and what the call is called in an error's `stage`. */
export type Deadline = { readonly stage: string; readonly ms: number };

export type CallOptions<M extends EngineMethod> = {
  readonly signal?: AbortSignal | undefined;
  readonly onChunk?: (chunk: EngineChunk<M>) => void;
  /** From the start of the call. */
  readonly deadline: Deadline;
  /** After each chunk; default: the first deadline goes on as it is. */
  readonly afterChunk?: (chunk: EngineChunk<M>) => Deadline;
};

export type EngineClient = {
  readonly key: string;
  /** The ready engine's generation; starts one if there is none. @throws AppError ENGINE_*, CANCELLED, SHUTTING_DOWN. */
  start(signal?: AbortSignal): Promise<number>;
  /** The generation of the engine that lives now, or `null`. */
  generation(): number | null;
  /**
   * One call. It ends exactly once: with the result, an error of the engine, ENGINE_CRASHED, ENGINE_TIMEOUT or ENGINE_PROTOCOL. Aborting asks
   * the engine to stop; the call then ends with what the engine answers.
   */
  call<M extends EngineMethod>(method: M, params: EngineParams<M>, options: CallOptions<M>): Promise<EngineResult<M>>;
  /** Resolves when no call is in flight. @throws AppError CANCELLED. */
  idle(signal?: AbortSignal): Promise<void>;
  /** Ends the engine in good order; the next call starts a new one. */
  stop(): Promise<void>;
  dispose(): Promise<void>;
  /** Forgets failures, so that the breaker lets a start through. */
  reset(): void;
  status(): SupervisorStatus;
  onChange(listener: (status: SupervisorStatus) => void): void;
};

type Pending = {
  readonly method: EngineMethod;
  readonly onReply: (reply: z.infer<typeof EngineReply>) => void;
  readonly fail: (error: AppError) => void;
};

/** Speaks the engine contract over whichever child the supervisor has. */
export function createEngineClient(deps: { key: string; supervisor: Supervisor; clock: Clock; log: Logger }): EngineClient {
  const { key, supervisor, clock, log } = deps;
  let open: { session: Session; pending: Map<number, Pending> } | null = null;
  let ids = 0;
  const idlers = new Set<() => void>();
  const settled = () => {
    if (open !== null && open.pending.size > 0) return;
    for (const go of [...idlers]) go();
  };

  async function connect(signal?: AbortSignal): Promise<{ session: Session; pending: Map<number, Pending> }> {
    const session = await supervisor.ensure(signal);
    if (open?.session === session) return open;
    const pending = new Map<number, Pending>();
    const mine = { session, pending };
    open = mine;
    session.onBody((body) => receive(mine.session, pending, body));
    session.onEnd((error) => {
      if (open === mine) open = null;
      const all = [...pending.values()];
      pending.clear();
      for (const one of all) one.fail(error);
      settled();
    });
    return mine;
  }

  /** A body that the contract does not allow: whatever the engine says next cannot be trusted either. */
  function lied(session: Session, what: string): void {
    log.error('engine.protocol', { engine: key, what, generation: session.generation });
    session.end(new AppError('ENGINE_PROTOCOL', { engineKey: key, stage: what }));
  }

  function receive(session: Session, pending: Map<number, Pending>, body: unknown): void {
    const reply = EngineReply.safeParse(body);
    if (!reply.success) return lied(session, 'frame');
    if (reply.data.t === 'log') {
      log[reply.data.level](`engine.${reply.data.event.slice(0, 64)}`, { engine: key, ...plainFields(reply.data.fields) });
      return;
    }
    const call = pending.get(reply.data.id);
    if (call === undefined) return lied(session, 'id');
    call.onReply(reply.data);
  }

  function run<M extends EngineMethod>(
    { session, pending }: { session: Session; pending: Map<number, Pending> },
    method: M,
    params: EngineParams<M>,
    options: CallOptions<M>,
  ): Promise<EngineResult<M>> {
    const id = ++ids;
    const end: Deferred<EngineResult<M>> = deferred();
    const schema = methods[method];
    let stage = options.deadline.stage;
    let stopTimer = () => {};
    const cancel = () => session.post({ t: 'cancel', id });
    const settle = () => {
      pending.delete(id);
      stopTimer();
      options.signal?.removeEventListener('abort', cancel);
      settled();
    };
    const arm = (deadline: Deadline) => {
      stopTimer();
      stage = deadline.stage;
      stopTimer = clock.setTimer(deadline.ms, () => session.end(new AppError('ENGINE_TIMEOUT', { engineKey: key, stage: deadline.stage })));
    };
    pending.set(id, {
      method,
      fail(error) {
        settle();
        end.reject(isEngineEnd(error) ? new AppError(error.code, { engineKey: key, stage }, { cause: error }) : error);
      },
      onReply(reply) {
        switch (reply.t) {
          case 'chunk': {
            const chunk = schema.chunk.safeParse(reply.data);
            if (!chunk.success) return lied(session, `${method}.chunk`);
            const data = chunk.data as EngineChunk<M>;
            if (options.afterChunk !== undefined) arm(options.afterChunk(data));
            options.onChunk?.(data);
            return;
          }
          case 'result': {
            const result = schema.result.safeParse(reply.data);
            if (!result.success) return lied(session, `${method}.result`);
            settle();
            session.succeeded();
            end.resolve(result.data as EngineResult<M>);
            return;
          }
          case 'error':
            if (!Object.hasOwn(codes, reply.error.code)) return lied(session, `${method}.error`);
            settle();
            session.succeeded();
            end.reject(fromWire(reply.error));
            return;
          case 'log':
            return;
        }
      },
    });
    arm(options.deadline);
    options.signal?.addEventListener('abort', cancel, { once: true });
    session.post({ t: 'call', id, method, params });
    if (options.signal?.aborted) cancel();
    return end.promise;
  }

  return {
    key,
    async start(signal) {
      return (await connect(signal)).session.generation;
    },
    generation: () => open?.session.generation ?? null,
    async call(method, params, options) {
      const live = await connect(options.signal);
      if (options.signal?.aborted) throw new AppError('CANCELLED');
      return run(live, method, params, options);
    },
    async idle(signal) {
      if (open === null || open.pending.size === 0) return;
      await new Promise<void>((resolve, reject) => {
        const end = (how: () => void) => () => {
          idlers.delete(go);
          signal?.removeEventListener('abort', abort);
          how();
        };
        const go = end(resolve);
        const abort = end(() => reject(new AppError('CANCELLED')));
        idlers.add(go);
        signal?.addEventListener('abort', abort, { once: true });
        if (signal?.aborted) abort();
      });
    },
    stop: () => supervisor.stop(),
    dispose: () => supervisor.dispose(),
    reset: () => supervisor.reset(),
    status: () => supervisor.status(),
    onChange: (listener) => supervisor.onChange(listener),
  };
}

function isEngineEnd(error: AppError): boolean {
  return error.code === 'ENGINE_CRASHED' || error.code === 'ENGINE_TIMEOUT';
}

/** Fields of an engine's log line that our log takes; the engine's code is ours, the library's words are not. */
function plainFields(fields: Readonly<Record<string, unknown>>): Record<string, LogField> {
  const out: Record<string, LogField> = {};
  for (const [name, value] of Object.entries(fields).slice(0, 16)) {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') out[name] = value;
  }
  return out;
}

/** Load deadline of a file: 30 s and 1 s per 100 MB. */
export function loadDeadlineMs(fileBytes: number): number {
  return engineLimits.loadBaseMs + Math.ceil(fileBytes * engineLimits.loadPerByteMs);
}
