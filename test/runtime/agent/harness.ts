import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgent } from '../../../src/runtime/agent/createAgent.ts';
import type { Agent, AgentDeps } from '../../../src/runtime/agent/ports.ts';
import type { Clock, Logger, Paths } from '../../../src/runtime/platform/ports.ts';
import { migrations } from '../../../src/runtime/store/migrations/index.ts';
import { openStore, type Store, type StoreDeps } from '../../../src/runtime/store/open.ts';
import type { DurableEvent, WatchItem } from '../../../src/shared/domain/events.ts';
import type { SessionId, TurnId } from '../../../src/shared/domain/ids.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { createFakeClock, type FakeClock } from '../../helpers/fakeClock.ts';
import { createScriptedModel, type ScriptedModel, type Scripts } from '../../helpers/scriptedLanguageModel.ts';

export const silent: Logger = { info() {}, warn() {}, error() {} };

export type LogLine = { readonly level: string; readonly event: string; readonly fields: unknown };

/** A log that keeps its lines, for tests that search them. */
export function keepingLog(): { log: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at = (level: string) => (event: string, fields?: unknown) => void lines.push({ level, event, fields: fields ?? {} });
  return { log: { info: at('info'), warn: at('warn'), error: at('error') }, lines };
}

export function tempPaths(folder = mkdtempSync(join(tmpdir(), 'sotto-kernel-'))): Paths {
  return {
    data: folder,
    database: join(folder, 'sotto.db'),
    lock: join(folder, 'lock.db'),
    backups: join(folder, 'backups'),
    models: join(folder, 'models'),
    parts: join(folder, 'models', '.parts'),
    cache: join(folder, 'cache'),
    tmp: join(folder, 'tmp'),
    logs: join(folder, 'logs'),
    httpJson: join(folder, 'http.json'),
    httpToken: join(folder, 'http-token'),
  };
}

export type KernelHarness = {
  readonly paths: Paths;
  readonly clock: FakeClock;
  readonly model: ScriptedModel;
  store: Store;
  agent: Agent;
  /** The events of a session, all of them. */
  log(sessionId: SessionId): DurableEvent[];
  types(sessionId: SessionId): string[];
  /** Waits for a state, never for a time. */
  until(holds: () => boolean): Promise<void>;
  /** Waits until the turn has ended (or waits for a decision). */
  settled(sessionId: SessionId, turnId: TurnId): Promise<void>;
  /** As a power cut: the old runtime never writes again; a new one opens the folder. */
  crash(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type KernelOptions = {
  scripts?: Scripts;
  contextSize?: number;
  folder?: string;
  agent?: Partial<AgentDeps>;
  store?: Partial<StoreDeps>;
  /** Default: recover at once. */
  recover?: boolean;
};

/** The real kernel over a real database file; model, clock and log are the test's. */
export async function createKernelHarness(options: KernelOptions = {}): Promise<KernelHarness> {
  const paths = tempPaths(options.folder);
  const clock = createFakeClock();
  const model = createScriptedModel(options.scripts, {
    clock,
    ...(options.contextSize === undefined ? {} : { contextSize: options.contextSize }),
  });
  let life = { over: false };
  const open = () => openStore({ paths, clock: mortal(clock, life), log: silent, migrations, ...options.store });
  const make = (store: Store) =>
    createAgent({
      store,
      clock: mortal(clock, life),
      log: silent,
      models: { current: () => model, unavailable: () => new AppError('MODEL_NOT_INSTALLED', { modelId: 'none' }) },
      localTime: (ms) => new Date(ms).toISOString().slice(0, 16),
      ...options.agent,
    });
  let store = await open();
  let agent = make(store);
  if (options.recover !== false) agent.recover();

  const harness: KernelHarness = {
    paths,
    clock,
    model,
    store,
    agent,
    log(sessionId) {
      const all: DurableEvent[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = harness.agent.events.list({ sessionId, after: 0, cursor, limit: 500 });
        all.push(...page.events);
        if (page.nextCursor === null) return all;
        cursor = page.nextCursor;
      }
    },
    types: (sessionId) => harness.log(sessionId).map((event) => event.type),
    async until(holds) {
      for (let tries = 0; !holds(); tries += 1) {
        if (tries > 20_000) throw new Error('it never came to that');
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    settled(sessionId, turnId) {
      return harness.until(() => {
        const turn = harness.agent.turns.get(sessionId, turnId);
        return turn.completedAt !== null || turn.waitingOn !== null;
      });
    },
    async crash() {
      // The connection is cut under the old runtime, so that nothing it still does reaches the disk.
      life.over = true;
      store.db.close();
      await store[Symbol.asyncDispose]();
      life = { over: false };
      store = await open();
      agent = make(store);
      harness.store = store;
      harness.agent = agent;
    },
    async [Symbol.asyncDispose]() {
      const quit = harness.agent[Symbol.asyncDispose]();
      await clock.advanceAsync(5_000);
      await quit;
      await store[Symbol.asyncDispose]();
      rmSync(paths.data, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return harness;
}

/** The clock of one runtime: what it had planned does not happen any more once it is dead. */
function mortal(clock: Clock, life: { over: boolean }): Clock {
  return { ...clock, setTimer: (ms, callback) => clock.setTimer(ms, () => (life.over ? undefined : callback())) };
}

/** Takes items until the predicate holds for one, and gives all of them. */
export async function takeUntil(items: AsyncGenerator<WatchItem, void, void>, last: (item: WatchItem) => boolean): Promise<WatchItem[]> {
  const taken: WatchItem[] = [];
  for (;;) {
    const next = await items.next();
    if (next.done) return taken;
    taken.push(next.value);
    if (last(next.value)) return taken;
  }
}

export const isEnd = (item: WatchItem): boolean =>
  item.kind === 'durable' && ['turn.completed', 'turn.failed', 'turn.cancelled'].includes(item.event.type);
