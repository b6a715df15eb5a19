import { describe, expect, it } from 'vitest';
import { runEngineChild } from '../../../src/engine/entry/child.ts';
import type { WorkerLink } from '../../../src/engine/entry/jobs.ts';
import { type ElectronPort, openTransport, type Transport } from '../../../src/engine/entry/transport.ts';
import type { WorkerRequest } from '../../../src/engine/workers/protocol.ts';
import type { ChildFrame } from '../../../src/shared/supervision/frames.ts';

/** Both ends of a child's line, and a worker that does what the test says. */
function bench(options: { workerFails?: boolean } = {}) {
  const frames: ChildFrame[] = [];
  const jobs: WorkerRequest[] = [];
  const ends: string[] = [];
  const on = { message: (_: unknown) => undefined as void, gone: () => undefined as void };
  const worker = {
    message: (_: unknown) => undefined as void,
    error: (_: unknown) => undefined as void,
    exit: (_: number) => undefined as void,
  };
  const transport: Transport = {
    post(message, sent) {
      frames.push(message as ChildFrame);
      sent?.();
    },
    onMessage: (listener) => void (on.message = listener),
    onGone: (listener) => void (on.gone = listener),
  };
  const link: WorkerLink = {
    postMessage: (message) => void jobs.push(message),
    on: (event: string, listener: (value: never) => void) => void Object.assign(worker, { [event]: listener }),
  };
  runEngineChild({
    engineKey: 'language',
    transport,
    startWorker() {
      if (options.workerFails === true) throw new Error('no file');
      return link;
    },
    leave: () => void ends.push('leave'),
    die: () => void ends.push('die'),
  });
  const app = (body: unknown) => on.message({ k: 'app', generation: 1, body });
  return { frames, jobs, ends, worker, app, say: (frame: unknown) => on.message(frame), gone: () => on.gone() };
}

describe('the child of a supervisor', () => {
  it('that cannot start its worker says so with a typed error and leaves', () => {
    const { frames, ends, say } = bench({ workerFails: true });
    say({ k: 'hello', generation: 1 });
    expect(frames).toMatchObject([
      { k: 'failed', generation: 1, error: { code: 'ENGINE_FAULT', data: { engineKey: 'language', stage: 'start' } } },
    ]);
    expect(ends).toEqual(['leave']);
  });

  it('answers every open call once when the worker dies, and ends', () => {
    const { frames, ends, say, app, worker } = bench();
    say({ k: 'hello', generation: 1 });
    app({ t: 'call', id: 1, method: 'abi', params: {} });
    app({ t: 'call', id: 2, method: 'count', params: {} });
    worker.error(new Error('out of memory'));
    worker.exit(1);
    const errors = frames.flatMap((frame) => (frame.k === 'app' && JSON.stringify(frame.body).includes('"error"') ? [frame.body] : []));
    expect(errors).toMatchObject([
      { t: 'log' },
      { t: 'error', id: 1, error: { code: 'ENGINE_FAULT', data: { stage: 'abi' } } },
      { t: 'error', id: 2, error: { code: 'ENGINE_FAULT', data: { stage: 'count' } } },
    ]);
    expect(ends).toEqual(['die']);
  });

  it('gives the worker one job at a time and drops answers of jobs that are over', () => {
    const { frames, jobs, say, app, worker } = bench();
    say({ k: 'hello', generation: 1 });
    app({ t: 'call', id: 10, method: 'abi', params: {} });
    app({ t: 'call', id: 11, method: 'abi', params: {} });
    expect(jobs).toHaveLength(1);
    worker.message({ t: 'result', id: 1, data: 'first' });
    worker.message({ t: 'chunk', id: 1, data: 'late' });
    worker.message('nonsense');
    expect(jobs.map((job) => job.t === 'job' && job.id)).toEqual([1, 2]);
    const replies = frames.flatMap((frame) => (frame.k === 'app' ? [frame.body] : []));
    expect(replies).toEqual([{ t: 'result', id: 10, data: 'first' }]);
  });

  it('refuses more calls than anyone has a use for', () => {
    const { frames, say, app } = bench();
    say({ k: 'hello', generation: 1 });
    for (let id = 1; id <= 70; id += 1) app({ t: 'call', id, method: 'abi', params: {} });
    const refused = frames.filter((frame) => frame.k === 'app' && JSON.stringify(frame.body).includes('TOO_MANY_REQUESTS'));
    expect(refused).toHaveLength(70 - 65);
  });

  it('on stop ends what runs and what waits, then says goodbye; late calls are refused', async () => {
    const { frames, jobs, ends, say, app, worker } = bench();
    say({ k: 'hello', generation: 1 });
    app({ t: 'call', id: 1, method: 'generate', params: {} });
    app({ t: 'call', id: 2, method: 'generate', params: {} });
    say({ k: 'stop', generation: 1 });
    app({ t: 'call', id: 3, method: 'generate', params: {} });
    worker.message({ t: 'result', id: 1, data: 'cancelled' });
    worker.message({ t: 'closed' });
    await Promise.resolve();
    await Promise.resolve();
    expect(jobs.at(-1)).toEqual({ t: 'close' });
    const bodies = frames.flatMap((frame) => (frame.k === 'app' ? [frame.body] : []));
    expect(bodies).toMatchObject([
      { id: 2, error: { code: 'SHUTTING_DOWN' } },
      { id: 3, error: { code: 'SHUTTING_DOWN' } },
      { id: 1, data: 'cancelled' },
    ]);
    expect(frames.at(-1)?.k).toBe('goodbye');
    expect(ends).toEqual(['leave']);
  });

  it('ends at once when its parent is gone', () => {
    const { ends, gone } = bench();
    gone();
    expect(ends).toEqual(['die']);
  });
});

describe('the line under Electron', () => {
  function port() {
    const sent: unknown[] = [];
    const listeners = { message: (_: { data: unknown; ports: ElectronPort[] }) => undefined as void, close: () => undefined as void };
    const self: ElectronPort & { started: number } = {
      started: 0,
      postMessage: (message) => void sent.push(message),
      on: (event: string, listener: (value: never) => void) => void Object.assign(listeners, { [event]: listener }),
      start() {
        self.started += 1;
      },
    };
    return { self, sent, listeners };
  }

  it('goes over the port that main hands on, and then over nothing else', () => {
    const main = port();
    const runtime = port();
    const heard: unknown[] = [];
    let gone = 0;
    const transport = openTransport({ on: () => undefined, parentPort: main.self });
    transport?.onMessage((message) => heard.push(message));
    transport?.onGone(() => {
      gone += 1;
    });
    main.listeners.message({ data: 'before', ports: [] });
    main.listeners.message({ data: 'the port', ports: [runtime.self] });
    runtime.listeners.message({ data: 'hello', ports: [] });
    main.listeners.message({ data: 'stray', ports: [] });
    transport?.post('answer');
    expect(heard).toEqual(['before', 'hello']);
    expect(runtime.self.started).toBe(1);
    expect([main.sent, runtime.sent]).toEqual([[], ['answer']]);
    runtime.listeners.close();
    expect(gone).toBe(1);
  });

  it('is not there for a process that nobody started as a child', () => {
    expect(openTransport({ on: () => undefined })).toBeNull();
  });
});
