import { parentPort, workerData } from 'node:worker_threads';
import type { z } from 'zod';
import { AppError, toAppError } from '../../shared/errors/appError.ts';
import type { JobControl } from './prefill.ts';
import { type WorkerData, type WorkerReply, WorkerRequest } from './protocol.ts';

type Method = { readonly params: z.ZodType };
type Handlers<M extends Readonly<Record<string, Method>>> = {
  readonly [K in keyof M]: (params: z.output<M[K]['params']>, emit: (chunk: unknown) => void, control: JobControl) => unknown;
};

/**
 * Serves the jobs of the engine's main thread in this worker, one at a time. The main thread stays free for pings and cancels while a
 * native call holds this one.
 *
 * @param methods  their params are parsed before a handler sees them.
 * @param close    gives the native memory back; nothing is asked afterwards.
 */
export function serveWorker<M extends Readonly<Record<string, Method>>>(
  methods: M,
  handlers: Handlers<M>,
  close: () => Promise<void>,
): void {
  const port = parentPort;
  if (port === null) throw new Error('a worker file is started as a worker');
  const { cancel } = workerData as WorkerData;
  const post = (reply: WorkerReply) => port.postMessage(reply);

  async function run(id: number, name: string, input: unknown): Promise<unknown> {
    if (!Object.hasOwn(methods, name)) throw new AppError('UNKNOWN_PROCEDURE');
    const method: keyof M = name;
    const parsed = methods[method]?.params.safeParse(input);
    if (parsed === undefined || !parsed.success) {
      const issue = parsed?.error.issues[0];
      throw new AppError('INVALID_INPUT', { field: issue?.path.join('.') ?? '', reason: issue?.code ?? 'invalid' });
    }
    const control: JobControl = { isCancelled: () => Atomics.load(cancel, 0) === id, nowMs: () => performance.now() };
    return handlers[method](parsed.data as z.output<M[keyof M]['params']>, (data) => post({ t: 'chunk', id, data }), control);
  }

  port.on('message', (message: unknown) => {
    const request = WorkerRequest.parse(message);
    if (request.t === 'close') {
      void close().then(
        () => post({ t: 'closed' }),
        () => post({ t: 'closed' }),
      );
      return;
    }
    run(request.id, request.method, request.params).then(
      (data) => post({ t: 'result', id: request.id, data }),
      (error: unknown) => {
        const known = toAppError(error);
        if (known.code === 'INTERNAL')
          post({ t: 'log', level: 'error', event: 'internal', fields: { ...known.data, name: nameOf(error) } });
        post({ t: 'error', id: request.id, error: { ...known.toWire() } });
      },
    );
  });
}

/** Enough to find the line in our code: kind and function names, no words and no paths that could be the user's. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = [...(error.stack ?? '').matchAll(/^\s+at (?:async )?([\w.$<>]+) \(/gm)].slice(0, 4).map((frame) => frame[1]);
  return [error.name, ...frames].join(' < ');
}
