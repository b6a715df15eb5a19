import { type ChildFrame, ParentFrame } from '../../shared/supervision/frames.ts';
import { type EngineReply, EngineRequest } from '../contract/frames.ts';
import { createJobs, type Jobs, type WorkerLink } from './jobs.ts';
import { createLanes } from './lanes.ts';
import type { Transport } from './transport.ts';

/**
 * The child's half of supervision: hello → ready, ping → pong, busy around each native job, stop → goodbye. Frames of another
 * generation and frames that do not parse are dropped.
 *
 * @param startWorker  called at `hello`, not before: a child that nobody greets holds no thread. With lanes: at a lane's first call.
 * @param laneOf       which worker answers a method; left out, there is one for all, lane `llm`.
 * @param leave        ends the process in order, after `goodbye` is on its way.
 * @param die          ends it at once: the parent is gone, or the worker is.
 */
export function runEngineChild(deps: {
  engineKey: string;
  transport: Transport;
  startWorker: (cancel: Int32Array<SharedArrayBuffer>, lane: string) => WorkerLink;
  laneOf?: (method: string) => string;
  leave: () => void;
  die: () => void;
}): void {
  const { engineKey, transport } = deps;
  let generation: number | null = null;
  let jobs: Jobs | null = null;
  let working = 0;

  const post = (frame: ChildFrame, sent?: () => void) => transport.post(frame, sent);

  /** Busy from the first lane that begins until the last one has ended. */
  function busy(of: number, method: string | null): void {
    working += method === null ? -1 : 1;
    if (method === null && working === 0) post({ k: 'idle', generation: of });
    if (method !== null && working === 1) post({ k: 'busy', generation: of, label: method });
  }

  function begin(of: number): void {
    generation = of;
    const app = (reply: EngineReply) => post({ k: 'app', generation: of, body: reply });
    const refuse = (id: number, method: string) =>
      app({
        t: 'error',
        id,
        error: { code: 'ENGINE_FAULT', message: 'the worker could not be started', data: { engineKey, stage: method } },
      });
    const start = (lane: string): Jobs => {
      const cancel = new Int32Array(new SharedArrayBuffer(4));
      return createJobs({
        engineKey,
        worker: deps.startWorker(cancel, lane),
        cancel,
        reply: app,
        onBusy: (method) => busy(of, method),
        onBroken: deps.die,
      });
    };
    try {
      jobs = deps.laneOf === undefined ? start('llm') : createLanes({ laneOf: deps.laneOf, start, refuse });
    } catch {
      const error = { code: 'ENGINE_FAULT', message: 'the worker could not be started', data: { engineKey, stage: 'start' } };
      post({ k: 'failed', generation: of, error }, deps.leave);
      return;
    }
    post({ k: 'ready', generation: of });
  }

  function request(body: unknown): void {
    const parsed = EngineRequest.safeParse(body);
    if (!parsed.success) return refuseBody(body);
    if (parsed.data.t === 'cancel') jobs?.cancel(parsed.data.id);
    else jobs?.call(parsed.data.id, parsed.data.method, parsed.data.params);
  }

  /** A body that is no request but has an id is answered, so that its sender does not wait for ever. */
  function refuseBody(body: unknown): void {
    const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : undefined;
    if (generation === null || typeof id !== 'number' || !Number.isInteger(id)) return;
    const error = { code: 'ENGINE_PROTOCOL', message: 'not a request', data: { engineKey, stage: 'request' } };
    post({ k: 'app', generation, body: { t: 'error', id, error } });
  }

  transport.onGone(deps.die);
  transport.onMessage((message) => {
    const parsed = ParentFrame.safeParse(message);
    if (!parsed.success) return;
    const frame = parsed.data;
    if (frame.k === 'hello') {
      if (generation === null) begin(frame.generation);
      return;
    }
    if (frame.generation !== generation) return;
    switch (frame.k) {
      case 'ping':
        return post({ k: 'pong', generation, n: frame.n });
      case 'app':
        return request(frame.body);
      case 'stop': {
        const of = generation;
        void (jobs?.close() ?? Promise.resolve()).then(() => post({ k: 'goodbye', generation: of }, deps.leave));
      }
    }
  });
}
