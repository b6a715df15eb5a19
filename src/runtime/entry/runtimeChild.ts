import { toAppError } from '../../shared/errors/appError.ts';
import { type ChildFrame, ParentFrame } from '../../shared/supervision/frames.ts';
import type { Runtime } from '../compose/createRuntime.ts';
import type { PortLike } from '../platform/electronStarter.ts';
import type { Logger } from '../platform/ports.ts';
import { createConnections } from '../procedures/serveConnection.ts';
import { createPageWires, type PageWires } from './pageWires.ts';
import type { ParentLink } from './parentLink.ts';

/**
 * The runtime as main's child: hello → compose → ready or failed, ping → pong, stop → goodbye. Frames of another generation and frames
 * that do not parse are dropped.
 *
 * @param compose  makes the runtime; called once, at `hello`. `host` reaches main beside the frames (engines of a utilityProcess).
 * @param leave    ends the process in order, after `goodbye` is on its way.
 * @param die      ends it at once: main is gone. Nothing is lost by that, and the next runtime does not find the folder taken.
 */
export function runRuntimeChild(deps: {
  link: ParentLink;
  compose: (host: Host) => Promise<Runtime>;
  log: Logger;
  leave: () => void;
  die: () => void;
}): void {
  const { link, log } = deps;
  let life: Life | null = null;

  const post = (frame: ChildFrame, sent?: () => void) => link.post(frame, sent);

  function begin(generation: number): Life {
    const bodies: ((body: unknown, port: PortLike | null) => void)[] = [];
    // Before `ready` main takes nothing but that; what the composition says earlier (a mute that was kept) comes right after it.
    let early: unknown[] | null = [];
    const body = (value: unknown) => {
      if (early !== null) early.push(value);
      else post({ k: 'app', generation, body: value });
    };
    const starting = deps.compose({ post: body, onBody: (listener) => void bodies.push(listener) });
    const born: Life = { generation, bodies, wires: null, runtime: starting };
    starting.then(
      (runtime) => {
        const serve = createConnections({ router: runtime.router, refusals: runtime.refusals, log });
        born.wires = createPageWires({ post: body, serve, serveVoice: (line) => runtime.services.voice.connect(line), log });
        post({ k: 'ready', generation });
        const waiting = early ?? [];
        early = null;
        for (const value of waiting) body(value);
        log.info('runtime.ready', { generation });
      },
      (cause: unknown) => {
        const error = toAppError(cause);
        log.error('runtime.notComposed', { code: error.code }, cause);
        const wire = error.toWire();
        post({ k: 'failed', generation, error: { code: wire.code, message: wire.message, data: { ...wire.data } } }, deps.leave);
      },
    );
    return born;
  }

  async function stop(of: Life): Promise<void> {
    try {
      of.wires?.close();
      const runtime = await of.runtime;
      await runtime[Symbol.asyncDispose]();
    } catch (error) {
      log.error('runtime.stopFailed', {}, error);
    }
    post({ k: 'goodbye', generation: of.generation }, deps.leave);
  }

  link.onGone(deps.die);
  link.onMessage((message, port) => {
    const parsed = ParentFrame.safeParse(message);
    if (!parsed.success) return;
    const frame = parsed.data;
    if (frame.k === 'hello') {
      life ??= begin(frame.generation);
      return;
    }
    if (life === null || frame.generation !== life.generation) return;
    switch (frame.k) {
      case 'ping':
        return post({ k: 'pong', generation: frame.generation, n: frame.n });
      case 'app':
        if (life.wires?.receive(frame.body, port) !== true) for (const listener of life.bodies) listener(frame.body, port);
        return;
      case 'stop':
        if (life.stopping === undefined) life.stopping = stop(life);
    }
  });
}

/** What the composition may use of the line to main, inside the supervision frames. */
export type Host = {
  post(body: unknown): void;
  onBody(listener: (body: unknown, port: PortLike | null) => void): void;
};

type Life = {
  readonly generation: number;
  readonly bodies: ((body: unknown, port: PortLike | null) => void)[];
  readonly runtime: Promise<Runtime>;
  wires: PageWires | null;
  stopping?: Promise<void>;
};
