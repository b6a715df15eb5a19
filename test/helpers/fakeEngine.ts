import { join } from 'node:path';
import { EngineRequest } from '../../src/engine/contract/frames.ts';
import type { GenerateResult, LoadedInfo } from '../../src/engine/contract/language.ts';
import { createInlineStarter } from '../../src/runtime/platform/inlineStarter.ts';
import { createNodeStarter } from '../../src/runtime/platform/nodeStarter.ts';
import { ParentFrame } from '../../src/shared/supervision/frames.ts';
import type { ProcessStarter } from '../../src/shared/supervision/processStarter.ts';
import { deferred } from '../../src/shared/util/deferred.ts';

/** What the engine does wrong, and where: at the `step`-th thing it would do there (0 = at once). */
export type Fault = {
  readonly on: 'start' | 'abi' | 'load' | 'generate' | 'count' | 'unload' | 'trial' | 'stop';
  readonly step?: number;
  /** Only in the n-th call of that method, from 1; default every call. */
  readonly call?: number;
  readonly act: FaultAct;
};

export type FaultAct =
  | 'exit0'
  | 'segv'
  | 'abort'
  /** Never answers this call again, but goes on answering pings. */
  | 'hang'
  /** Holds the thread for ever: pings fail too. */
  | 'freeze'
  /** Posts this instead of a frame. */
  | { readonly post: unknown }
  /** Posts this as a body of the engine contract; `ID` stands for the call's id. */
  | { readonly body: unknown }
  /** Answers the call with this error. */
  | { readonly error: { readonly code: string; readonly data: Record<string, unknown> } };

export type Behaviour = {
  readonly faults?: readonly Fault[];
  /** Pieces of each answer; default three words. */
  readonly pieces?: readonly string[];
  /** Goes on with the last piece until it is cancelled. */
  readonly endless?: boolean;
  readonly libraryVersion?: string;
  readonly contextSize?: number;
};

type Channel = {
  post(message: unknown, sent?: () => void): void;
  onMessage(listener: (message: unknown) => void): void;
  die(act: FaultAct): void;
  hung?(): void;
};

/** Speaks the engine contract as the real one does, until a fault comes. */
export function runFakeEngine(channel: Channel, behaviour: Behaviour): void {
  const pieces = behaviour.pieces ?? ['One', ' two', ' three'];
  const cancelled = new Set<number>();
  const counts = new Map<string, number>();
  let generation = 0;
  let dead = false;
  // One after another, as the real engine does.
  let jobs: Promise<void> = Promise.resolve();
  let hangs = false;

  /** True when the fault takes over. */
  const fault = (on: Fault['on'], step: number, id = 0): boolean => {
    if (dead) return true;
    const found = behaviour.faults?.find(
      (one) => one.on === on && (one.step ?? 0) === step && (one.call ?? counts.get(on)) === counts.get(on),
    );
    if (found === undefined) return false;
    const { act } = found;
    if (act === 'hang') {
      hangs = true;
      channel.hung?.();
      return true;
    }
    if (typeof act === 'string') {
      dead = true;
      channel.die(act);
      return true;
    }
    if ('post' in act) channel.post(act.post);
    else if ('body' in act) body(JSON.parse(JSON.stringify(act.body).replaceAll('"ID"', String(id))));
    else body({ t: 'error', id, error: { code: act.error.code, message: 'planted', data: act.error.data } });
    return 'error' in act;
  };
  const body = (value: unknown) => {
    if (!dead) channel.post({ k: 'app', generation, body: value });
  };
  const result = (id: number, data: unknown) => body({ t: 'result', id, data });
  const later = () => new Promise<void>((resolve) => setImmediate(resolve));

  async function call(id: number, method: string): Promise<void> {
    counts.set(method, (counts.get(method) ?? 0) + 1);
    switch (method) {
      case 'abi':
        if (!fault('abi', 0, id))
          result(id, { libraryVersion: behaviour.libraryVersion ?? 'fake-1', cpuVariant: 'fake', capabilities: { text: true } });
        return;
      case 'load':
        for (let step = 0; step < 3; step++) {
          if (fault('load', step, id)) return;
          if (cancelled.has(id)) return body({ t: 'error', id, error: { code: 'CANCELLED', message: 'cancelled', data: {} } });
          body({ t: 'chunk', id, data: { fraction: step / 2 } });
          await later();
        }
        return result(id, loaded(behaviour));
      case 'generate': {
        if (fault('generate', 0, id)) return;
        body({ t: 'chunk', id, data: { kind: 'prefill', done: 5, total: 5, reused: 2 } });
        let said = 0;
        for (let step = 1; behaviour.endless === true || step <= pieces.length; step++) {
          await later();
          if (fault('generate', step, id)) return;
          if (cancelled.has(id)) break;
          body({ t: 'chunk', id, data: { kind: 'text', tokens: 1, text: pieces[Math.min(step, pieces.length) - 1] } });
          said += 1;
        }
        if (fault('generate', pieces.length + 1, id)) return;
        const done: GenerateResult = {
          stopReason: cancelled.has(id) ? 'cancelled' : 'end',
          promptTokens: 5,
          reusedTokens: 2,
          outputTokens: said,
          prefillMs: 1,
          decodeMs: said,
        };
        return result(id, done);
      }
      case 'count':
        if (!fault('count', 0, id)) result(id, { tokens: 5, contextSize: behaviour.contextSize ?? 4096 });
        return;
      case 'unload':
        if (!fault('unload', 0, id)) result(id, {});
        return;
      case 'trial':
        if (fault('trial', 0, id)) return;
        body({ t: 'chunk', id, data: { fraction: 1 } });
        if (fault('trial', 1, id)) return;
        return result(id, { description: 'fake', tokens: 8, ms: 1 });
      default:
        body({ t: 'error', id, error: { code: 'UNSUPPORTED', message: method, data: { what: method } } });
    }
  }

  channel.onMessage((message) => {
    const parsed = ParentFrame.safeParse(message);
    if (!parsed.success || dead) return;
    const frame = parsed.data;
    if (frame.k === 'hello') {
      generation = frame.generation;
      if (!fault('start', 0)) channel.post({ k: 'ready', generation });
    } else if (frame.k === 'ping') channel.post({ k: 'pong', generation, n: frame.n });
    else if (frame.k === 'stop') {
      if (fault('stop', 0)) return;
      channel.post({ k: 'goodbye', generation }, () => channel.die('exit0'));
    } else {
      const request = EngineRequest.parse(frame.body);
      if (request.t === 'cancel') cancelled.add(request.id);
      else jobs = jobs.then(() => call(request.id, request.method)).then(() => (hangs ? new Promise<void>(() => {}) : undefined));
    }
  });
}

function loaded(behaviour: Behaviour): LoadedInfo {
  return {
    description: 'fake',
    architecture: 'fake',
    contextSize: behaviour.contextSize ?? 4096,
    trainedContext: 8192,
    vocabularySize: 259,
    fileBytes: 1000,
    parameters: 1,
    hasTemplate: true,
    systemRole: 'template',
    libraryVersion: behaviour.libraryVersion ?? 'fake-1',
    cpuVariant: 'fake',
    capabilities: { text: true },
    loadMs: 1,
  };
}

/** One behaviour for every start, or one per start; the last repeats. Tells how often an engine was started. */
export type FakeEngineStarter = ProcessStarter & { readonly starts: number; readonly args: readonly (readonly string[])[] };

function counted(behaviours: Behaviour | readonly Behaviour[], start: (behaviour: Behaviour) => ProcessStarter): FakeEngineStarter {
  const list: readonly Behaviour[] = Array.isArray(behaviours) ? behaviours : [behaviours as Behaviour];
  const args: (readonly string[])[] = [];
  return {
    start(spec) {
      const behaviour = list[Math.min(args.length, list.length - 1)] ?? {};
      args.push(spec.args);
      return start(behaviour).start(spec);
    },
    get starts() {
      return args.length;
    },
    args,
  };
}

/** Fake engines as real child processes. */
export function createFakeEngineStarter(behaviours: Behaviour | readonly Behaviour[] = {}): FakeEngineStarter {
  const node = createNodeStarter({ here: import.meta.url, file: () => join(import.meta.dirname, 'fakeEngineMain.ts') });
  return counted(behaviours, (behaviour) => ({
    start: (spec) => node.start({ ...spec, args: [...spec.args, JSON.stringify(behaviour)] }),
  }));
}

/** The same in memory: deterministic, for a fake clock. `freeze` is a `hang` that also leaves pings unanswered. */
export function createInlineFakeEngine(behaviours: Behaviour | readonly Behaviour[] = {}): FakeEngineStarter & {
  /** Resolves when an engine came to a `hang`. */
  readonly hung: Promise<void>;
} {
  const hung = deferred<void>();
  const starter = counted(behaviours, (behaviour) =>
    createInlineStarter((child) => {
      runFakeEngine(
        {
          post(message, sent) {
            child.post(message);
            if (sent !== undefined) queueMicrotask(sent);
          },
          onMessage: (listener) => child.onMessage(listener),
          die(act) {
            if (act !== 'freeze') child.exit(act === 'exit0' ? 0 : 1);
          },
          hung: () => hung.resolve(),
        },
        behaviour,
      );
    }),
  );
  return Object.assign(starter, { hung: hung.promise });
}
