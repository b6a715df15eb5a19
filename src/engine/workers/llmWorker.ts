import { parentPort, workerData } from 'node:worker_threads';
import { AppError, toAppError } from '../../shared/errors/appError.ts';
import { type LanguageMethod, languageMethods } from '../contract/language.ts';
import { createLanguageSession } from './languageSession.ts';
import type { JobControl } from './prefill.ts';
import { type WorkerData, type WorkerReply, WorkerRequest } from './protocol.ts';

// The thread in which llama.cpp runs. The engine's main thread stays free for pings and cancels while a call holds this one.

const port = parentPort;
if (port === null) throw new Error('llmWorker is started as a worker');
const { cancel } = workerData as WorkerData;
const session = createLanguageSession();

function post(reply: WorkerReply): void {
  port?.postMessage(reply);
}

async function run(id: number, method: string, input: unknown): Promise<unknown> {
  const control: JobControl = { isCancelled: () => Atomics.load(cancel, 0) === id, nowMs: () => performance.now() };
  const emit = (data: unknown) => post({ t: 'chunk', id, data });
  switch (knownMethod(method)) {
    case 'abi':
      return session.abi();
    case 'load':
      return session.load(parse('load', input), emit, control);
    case 'unload':
      return session.unload();
    case 'count':
      return session.count(parse('count', input));
    case 'generate':
      return session.generate(parse('generate', input), emit, control);
    case 'trial':
      return session.trial(parse('trial', input), emit, control);
  }
}

function knownMethod(method: string): LanguageMethod {
  if (Object.hasOwn(languageMethods, method)) return method as LanguageMethod;
  throw new AppError('UNKNOWN_PROCEDURE');
}

function parse<M extends LanguageMethod>(method: M, input: unknown) {
  const parsed = languageMethods[method].params.safeParse(input);
  if (parsed.success) return parsed.data as ReturnType<(typeof languageMethods)[M]['params']['parse']>;
  const issue = parsed.error.issues[0];
  throw new AppError('INVALID_INPUT', { field: issue?.path.join('.') ?? '', reason: issue?.code ?? 'invalid' });
}

port.on('message', (message: unknown) => {
  const request = WorkerRequest.parse(message);
  if (request.t === 'close') {
    void session.close().then(
      () => post({ t: 'closed' }),
      () => post({ t: 'closed' }),
    );
    return;
  }
  run(request.id, request.method, request.params).then(
    (data) => post({ t: 'result', id: request.id, data }),
    (error: unknown) => {
      const known = toAppError(error);
      if (known.code === 'INTERNAL') post({ t: 'log', level: 'error', event: 'internal', fields: { ...known.data, name: nameOf(error) } });
      post({ t: 'error', id: request.id, error: { ...known.toWire() } });
    },
  );
});

/** Enough to find the line in our code: kind and function names, no words and no paths that could be the user's. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = [...(error.stack ?? '').matchAll(/^\s+at (?:async )?([\w.$<>]+) \(/gm)].slice(0, 4).map((frame) => frame[1]);
  return [error.name, ...frames].join(' < ');
}
