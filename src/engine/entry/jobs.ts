import { AppError, toAppError } from '../../shared/errors/appError.ts';
import type { EngineReply } from '../contract/frames.ts';
import { isWorkerReply, type WorkerRequest } from '../workers/protocol.ts';

/** The worker thread as this file needs it; `worker_threads.Worker` fits. */
export type WorkerLink = {
  postMessage(message: WorkerRequest): void;
  on(event: 'message', listener: (message: unknown) => void): void;
  on(event: 'error', listener: (error: unknown) => void): void;
  on(event: 'exit', listener: (code: number) => void): void;
};

export type Jobs = {
  call(id: number, method: string, params: unknown): void;
  /** Ends a running call within one token or graph node, a waiting one at once. Unknown ids are late and mean nothing. */
  cancel(id: number): void;
  /** Ends all calls, gives the native memory back; resolves when the worker has done so. */
  close(): Promise<void>;
};

/** One more than anyone has a use for; the runtime sends one call at a time. */
const MAX_WAITING = 64;

type Job = { readonly id: number; readonly method: string; readonly params: unknown };

/**
 * Gives calls to the worker one after another (ABI-12: one in flight per handle) and answers each exactly once.
 *
 * @param cancel    shared with the worker: the number of the job that shall end.
 * @param onBusy    the method that began, or null when the worker is free.
 * @param onBroken  the worker died by itself; every call has been answered.
 */
export function createJobs(deps: {
  engineKey: string;
  worker: WorkerLink;
  cancel: Int32Array<SharedArrayBuffer>;
  reply: (reply: EngineReply) => void;
  onBusy: (method: string | null) => void;
  onBroken: () => void;
}): Jobs {
  const { worker, cancel, reply } = deps;
  const waiting: Job[] = [];
  let running: { readonly job: Job; readonly number: number } | null = null;
  let lastNumber = 0;
  let closed: { readonly promise: Promise<void>; readonly resolve: () => void } | null = null;
  let workerGone = false;

  function fail(id: number, error: AppError): void {
    const wire = error.toWire();
    // Native code does not know in which engine it runs.
    const data = wire.code.startsWith('ENGINE_') ? { ...wire.data, engineKey: deps.engineKey } : { ...wire.data };
    reply({ t: 'error', id, error: { code: wire.code, message: wire.message, data } });
  }

  function startNext(): void {
    if (running !== null || workerGone) return;
    const job = waiting.shift();
    if (job === undefined) return;
    lastNumber = (lastNumber % 0x7fff_fffe) + 1;
    running = { job, number: lastNumber };
    deps.onBusy(job.method);
    worker.postMessage({ t: 'job', id: lastNumber, method: job.method, params: job.params });
  }

  function finishRunning(): void {
    running = null;
    deps.onBusy(null);
    startNext();
  }

  worker.on('message', (message) => {
    if (!isWorkerReply(message)) return;
    const answer = message;
    if (answer.t === 'closed') {
      closed?.resolve();
      return;
    }
    if (answer.t === 'log') {
      reply(answer);
      return;
    }
    // Of a job that is over: nobody waits for it.
    if (running === null || answer.id !== running.number) return;
    const { id } = running.job;
    if (answer.t === 'error') {
      const { code, message: text, data } = answer.error;
      const engine = code.startsWith('ENGINE_') ? { ...data, engineKey: deps.engineKey } : data;
      reply({ t: 'error', id, error: { code, message: text, data: engine } });
    } else reply({ ...answer, id });
    if (answer.t !== 'chunk') finishRunning();
  });

  function broken(): void {
    if (workerGone) return;
    workerGone = true;
    const lost = [...(running === null ? [] : [running.job]), ...waiting.splice(0)];
    running = null;
    for (const job of lost) fail(job.id, new AppError('ENGINE_FAULT', { engineKey: deps.engineKey, stage: job.method }));
    closed?.resolve();
    deps.onBroken();
  }
  worker.on('error', (error) => {
    reply({ t: 'log', level: 'error', event: 'worker.failed', fields: { code: toAppError(error).code } });
    broken();
  });
  worker.on('exit', broken);

  return {
    call(id, method, params) {
      if (closed !== null) return fail(id, new AppError('SHUTTING_DOWN'));
      if (workerGone) return fail(id, new AppError('ENGINE_FAULT', { engineKey: deps.engineKey, stage: method }));
      if (waiting.length >= MAX_WAITING) return fail(id, new AppError('TOO_MANY_REQUESTS', { retryAfterSeconds: 1 }));
      waiting.push({ id, method, params });
      startNext();
    },
    cancel(id) {
      if (running?.job.id === id) Atomics.store(cancel, 0, running.number);
      const at = waiting.findIndex((job) => job.id === id);
      if (at < 0) return;
      waiting.splice(at, 1);
      fail(id, new AppError('CANCELLED'));
    },
    close() {
      if (closed === null) {
        closed = Promise.withResolvers<void>();
        for (const job of waiting.splice(0)) fail(job.id, new AppError('SHUTTING_DOWN'));
        if (running !== null) Atomics.store(cancel, 0, running.number);
        if (workerGone) closed.resolve();
        else worker.postMessage({ t: 'close' });
      }
      return closed.promise;
    },
  };
}
