import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import type { ContractRouterClient } from '@orpc/contract';
import type { SamplingChoice } from '../../src/runtime/agent/ports.ts';
import { createRuntime, type Runtime, type RuntimeDeps } from '../../src/runtime/compose/createRuntime.ts';
import type { LanguageModel } from '../../src/runtime/inference/languageModel.ts';
import { createClock } from '../../src/runtime/platform/clock.ts';
import type { Machine } from '../../src/runtime/platform/machine.ts';
import { pathsOf } from '../../src/runtime/platform/paths.ts';
import type { Clock, Fetch, LogField, Logger, Paths } from '../../src/runtime/platform/ports.ts';
import { createConnections } from '../../src/runtime/procedures/serveConnection.ts';
import { appErrors } from '../../src/shared/contract/clientErrors.ts';
import type { Contract } from '../../src/shared/contract/index.ts';
import { ModelId } from '../../src/shared/domain/ids.ts';
import type { LanguageStatus } from '../../src/shared/domain/models.ts';
import { AppError } from '../../src/shared/errors/appError.ts';
import type { ProcessStarter } from '../../src/shared/supervision/processStarter.ts';
import type { SupervisionLimits } from '../../src/shared/supervision/state.ts';
import { createLiveValue } from '../../src/shared/util/liveValue.ts';
import { createInlineFakeEngine } from './fakeEngine.ts';
import { createScriptedModel, type ScriptedModel } from './scriptedLanguageModel.ts';

export type Client = ContractRouterClient<Contract>;

export type LogLine = {
  readonly level: 'info' | 'warn' | 'error';
  readonly event: string;
  readonly fields: Readonly<Record<string, LogField>>;
  readonly cause: unknown;
};

export type TestRuntimeOptions = {
  /** What answers: a scripted model (default), another port, `null` = none, or `engine` = the local model over `starter`. */
  readonly models?: LanguageModel | null | 'engine';
  readonly clock?: Clock;
  /** Where downloads go; default: nowhere, every request fails with NO_NETWORK. */
  readonly fetch?: Fetch;
  /** The content of a catalogue file; default: an empty one. */
  readonly catalogue?: unknown;
  /** How engines start; default: a fake engine in memory. */
  readonly starter?: ProcessStarter;
  readonly machine?: Machine;
  readonly sampling?: SamplingChoice;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly engineLimits?: Partial<SupervisionLimits>;
  /** Ears and voice (`voiceFakes.ts`); default: those of the engines. */
  readonly speech?: NonNullable<RuntimeDeps['speech']>;
  /** Default: every line is kept in `log`. */
  readonly logger?: Logger;
  /** An existing data folder, which is kept at the end: for restarts. Default: a fresh one, removed at the end. */
  readonly dataDir?: string;
};

export type TestRuntime = {
  /** The contract, through serialisation, as the page speaks it. Failures are AppErrors. */
  readonly client: Client;
  readonly runtime: Runtime;
  readonly dataDir: string;
  readonly paths: Paths;
  /** The default model; throws when the test gave another one. */
  readonly model: ScriptedModel;
  /** What was logged so far. */
  readonly log: readonly LogLine[];
  /** One more client on a connection of its own; `close` drops the connection. */
  connect(): { client: Client; close(): void };
  /** Ends the runtime and keeps the folder, so that another one can open it. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * The real runtime with the real contract and a real database file. Only the outside world is fake.
 *
 * @example
 * await using rt = await createTestRuntime();
 * rt.model.play([{ say: 'Forty-two.' }]);
 */
export async function createTestRuntime(options: TestRuntimeOptions = {}): Promise<TestRuntime> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'sotto-test-')));
  const paths = pathsOf(dataDir);
  const log: LogLine[] = [];
  const scripted = options.models === undefined ? createScriptedModel() : null;
  const given = options.models === undefined ? scripted : options.models;
  const logger = options.logger ?? createTestLog(log);
  const runtime = await createRuntime({
    paths,
    clock: options.clock ?? createClock(),
    log: logger,
    starter: options.starter ?? createInlineFakeEngine(),
    env: options.env ?? {},
    fetch: options.fetch ?? { open: () => Promise.reject(new AppError('NO_NETWORK')) },
    catalogue: options.catalogue ?? { schemaVersion: 1, entries: [] },
    ...(given === null || given === 'engine' ? {} : { languageStatus: createLiveValue(readyStatus(given)) }),
    ...(given === 'engine'
      ? {}
      : { models: { current: () => given, unavailable: () => new AppError('MODEL_NOT_INSTALLED', { modelId: 'language' }) } }),
    ...(options.machine === undefined ? {} : { machine: options.machine }),
    ...(options.speech === undefined ? {} : { speech: options.speech }),
    ...(options.sampling === undefined ? {} : { sampling: options.sampling }),
    ...(options.engineLimits === undefined ? {} : { engineLimits: options.engineLimits }),
  });
  const serve = createConnections({ router: runtime.router, refusals: runtime.refusals, log: logger });
  const connections = new Set<() => void>();
  const connect = () => {
    const [near, far] = createMemoryPorts();
    serve({
      send: (text) => far.postMessage(text),
      onMessage: (listener) => far.listen(listener),
      onClose: (listener) => far.onClose(listener),
    });
    const close = () => {
      connections.delete(close);
      near.close();
    };
    connections.add(close);
    return { client: createTestClient(near), close };
  };
  let stopped: Promise<void> | null = null;
  const stop = () => {
    for (const close of connections) close();
    stopped ??= runtime[Symbol.asyncDispose]();
    return stopped;
  };
  return {
    client: connect().client,
    runtime,
    dataDir,
    paths,
    get model() {
      if (scripted === null) throw new Error('this runtime has a model of its own');
      return scripted;
    },
    log,
    connect,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The language slot as it stands when a model has been loaded. */
function readyStatus(model: LanguageModel): LanguageStatus {
  const modelId = ModelId.parse(model.modelId);
  return { state: 'ready', modelId, name: 'Scripted', fraction: null, contextSize: 4096, device: 'cpu', cpuVariant: null, error: null };
}

export function createTestLog(into: LogLine[] = []): Logger {
  return {
    info: (event, fields = {}) => void into.push({ level: 'info', event, fields, cause: undefined }),
    warn: (event, fields = {}) => void into.push({ level: 'warn', event, fields, cause: undefined }),
    error: (event, fields = {}, cause) => void into.push({ level: 'error', event, fields, cause }),
  };
}

/** A client of the contract over anything that looks like a MessagePort. */
export function createTestClient(port: Pick<MemoryPort, 'postMessage' | 'on'>): Client {
  return createORPCClient(new RPCLink({ port, interceptors: [appErrors] }));
}

/** The same without what our clients do of their own: it sends whatever can be written, and its failures are oRPC's. */
export function createBareClient(port: Pick<MemoryPort, 'postMessage' | 'on'>): Client {
  return createORPCClient(new RPCLink({ port }));
}

/** As much of a MessagePort as oRPC's link uses. */
export type MemoryPort = {
  postMessage(message: unknown): void;
  on(type: string, listener: (event?: { data: unknown }) => void): void;
  listen(listener: (message: unknown) => void): void;
  onClose(listener: () => void): void;
  close(): void;
};

/** Two linked ends. Messages are cloned and arrive on a later microtask, in order; closing one end closes both. */
export function createMemoryPorts(): [MemoryPort, MemoryPort] {
  let open = true;
  const closes = new Set<() => void>();
  const make = () => {
    const listeners = new Set<(message: unknown) => void>();
    return { listeners };
  };
  const ends = [make(), make()] as const;
  const port = (own: 0 | 1, other: 0 | 1): MemoryPort => ({
    postMessage(message) {
      if (!open) return;
      const copy: unknown = structuredClone(message);
      queueMicrotask(() => {
        if (open) for (const listener of ends[other].listeners) listener(copy);
      });
    },
    on(type, listener) {
      if (type === 'message') ends[own].listeners.add((data) => listener({ data }));
      if (type === 'close') closes.add(() => listener());
    },
    listen: (listener) => void ends[own].listeners.add(listener),
    onClose: (listener) => void closes.add(listener),
    close() {
      if (!open) return;
      open = false;
      for (const listener of closes) listener();
    },
  });
  return [port(0, 1), port(1, 0)];
}
