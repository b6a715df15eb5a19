import { Worker } from 'node:worker_threads';
import { AppError, fromWire } from '../../shared/errors/appError.ts';
import type { Clock, Logger } from '../platform/ports.ts';
import type { ReaderReply, ReaderRequest, SearchRow } from './readerWorker.ts';

/** ST-04. */
const searchTimeoutMs = 10_000;
/** Searches that wait while one runs; the oldest of them is dropped for a newer one. */
const waitingMax = 4;

export type Reader = {
  /**
   * Ranked words over titles and messages.
   *
   * @param words   what the person typed; the last word counts as a beginning.
   * @param signal  drops the search: waiting ones never run, a running one ends at its next row.
   * @returns       at most `limit + 1` rows, so that a caller sees whether there are more.
   * @throws AppError SEARCH_TIMEOUT, CANCELLED, STORE_IO
   */
  search(words: string, limit: number, signal?: AbortSignal): Promise<SearchRow[]>;
  [Symbol.asyncDispose](): Promise<void>;
};

type Job = {
  readonly request: ReaderRequest;
  readonly stop: Int32Array;
  readonly resolve: (rows: SearchRow[]) => void;
  readonly reject: (error: unknown) => void;
  settled: boolean;
  cleanUp: () => void;
};

/** One worker, started at the first search. A fault of the worker fails the running search; the next one starts a fresh worker. */
export function createReader(deps: { database: string; clock: Clock; log: Logger }): Reader {
  const { clock, log } = deps;
  let worker: Worker | null = null;
  let running: Job | null = null;
  let closed = false;
  let nextId = 1;
  const waiting: Job[] = [];

  function settle(job: Job, end: () => void): void {
    if (job.settled) return;
    job.settled = true;
    job.cleanUp();
    end();
  }

  function drop(job: Job, error: AppError): void {
    Atomics.store(job.stop, 0, 1);
    const at = waiting.indexOf(job);
    if (at >= 0) waiting.splice(at, 1);
    settle(job, () => job.reject(error));
  }

  function start(): Worker {
    const started = new Worker(workerFile(), { workerData: { database: deps.database }, name: 'store-reader' });
    started.unref();
    started.on('message', (reply: ReaderReply) => {
      const job = running;
      if (job === null || reply.id !== job.request.id) return;
      running = null;
      settle(job, () => (reply.ok ? job.resolve(reply.rows) : job.reject(fromWire(reply.error))));
      pump();
    });
    const lost = (reason: string) => {
      if (worker !== started) return;
      worker = null;
      const job = running;
      running = null;
      if (job !== null) settle(job, () => job.reject(new AppError('STORE_IO', {}, { message: 'the store reader ended' })));
      if (!closed) {
        log.warn('store.readerEnded', { reason });
        pump();
      }
    };
    started.on('error', (error: unknown) => lost(error instanceof Error ? error.name : 'error'));
    started.on('exit', () => lost('exit'));
    return started;
  }

  function pump(): void {
    if (running !== null || closed) return;
    const job = waiting.shift();
    if (job === undefined) return;
    running = job;
    worker ??= start();
    worker.postMessage(job.request);
  }

  return {
    search(words, limit, signal) {
      return new Promise<SearchRow[]>((resolve, reject) => {
        if (closed) return reject(new AppError('SHUTTING_DOWN'));
        if (signal?.aborted) return reject(new AppError('CANCELLED'));
        const shared = new SharedArrayBuffer(4);
        const onAbort = () => drop(job, new AppError('CANCELLED'));
        const takeBack = clock.setTimer(searchTimeoutMs, () => drop(job, new AppError('SEARCH_TIMEOUT')));
        const job: Job = {
          request: { id: nextId++, words, limit, stop: shared },
          stop: new Int32Array(shared),
          resolve,
          reject,
          settled: false,
          cleanUp: () => {
            takeBack();
            signal?.removeEventListener('abort', onAbort);
          },
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        waiting.push(job);
        const superseded = waiting.length > waitingMax ? waiting[0] : undefined;
        if (superseded !== undefined) drop(superseded, new AppError('CANCELLED'));
        pump();
      });
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      for (const job of [...waiting]) drop(job, new AppError('SHUTTING_DOWN'));
      if (running !== null) drop(running, new AppError('SHUTTING_DOWN'));
      await worker?.terminate();
    },
  };
}

/** Beside this file: a source while sources run, a bundle of its own after the build. */
function workerFile(): URL {
  const here = import.meta.url;
  return new URL(here.endsWith('.ts') ? 'readerWorker.ts' : 'readerWorker.cjs', here);
}
