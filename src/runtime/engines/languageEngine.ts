import { engineLimits } from '../../engine/contract/language.ts';
import type { ModelId } from '../../shared/domain/ids.ts';
import type { LanguageStatus } from '../../shared/domain/models.ts';
import { AppError, isAppError, toAppError } from '../../shared/errors/appError.ts';
import type { ErrorCode } from '../../shared/errors/codes.ts';
import { createLiveValue, type LiveValue } from '../../shared/util/liveValue.ts';
import type { Machine } from '../platform/machine.ts';
import type { Clock, Logger } from '../platform/ports.ts';
import { type EngineClient, type EngineResult, loadDeadlineMs } from './engineClient.ts';
import { type EngineSettings, type InstalledLanguage, type LanguageSlot, languageLimits, type Preflight } from './ports.ts';
import { threadsFor } from './settings.ts';

export type LoadedLanguage = EngineResult<'load'> & { readonly modelId: ModelId; readonly generation: number };

export type LanguageEngine = {
  /**
   * The model, loaded. Many may ask at once: there is one load, and it is given up when all who wait for it have.
   *
   * @throws AppError MODEL_DISABLED, MODEL_DOES_NOT_FIT, MODEL_FILE_CORRUPT, ENGINE_*, NATIVE_*, CANCELLED.
   */
  load(model: InstalledLanguage, options: { signal: AbortSignal; onProgress: (fraction: number) => void }): Promise<LoadedLanguage>;
  /** A command of this model was answered: its crashes are not in a row any more. */
  succeeded(model: InstalledLanguage): void;
  /** Tells what ended a command, so that crashes are counted and the state is shown. */
  failed(model: InstalledLanguage, error: unknown): void;
  /** A person asks to try a model again (RT-10). @throws AppError MODEL_NOT_INSTALLED. */
  enable(modelId: ModelId): void;
  readonly status: LiveValue<LanguageStatus>;
};

/** Failures that the same file with the same library gives again (RT-08). */
const deterministic: readonly ErrorCode[] = ['MODEL_FILE_CORRUPT', 'MODEL_ARCH_UNSUPPORTED', 'TEMPLATE_REJECTED', 'UNSUPPORTED'];
/** Failures that end the engine: three in a row with one model, and it is off. */
const crashes: readonly ErrorCode[] = ['ENGINE_CRASHED', 'ENGINE_TIMEOUT', 'ENGINE_PROTOCOL'];

type Load = {
  readonly key: string;
  readonly promise: Promise<LoadedLanguage>;
  readonly abort: AbortController;
  readonly progress: Set<(fraction: number) => void>;
  waiters: number;
};

/** What is loaded in the `language` engine, how it got there, and why not. */
export function createLanguageEngine(deps: {
  client: EngineClient;
  slot: LanguageSlot;
  preflight: Preflight;
  machine: Machine;
  settings: EngineSettings;
  clock: Clock;
  log: Logger;
}): LanguageEngine {
  const { client, slot, preflight, machine, settings, clock, log } = deps;
  const status = createLiveValue<LanguageStatus>(shown(slot.chosen(), 'idle'));
  let loaded: { key: string; info: LoadedLanguage } | null = null;
  let loading: Load | null = null;
  let lastKey: string | null = null;
  const crashCounts = new Map<string, number>();
  /** A load that crashed is told by the load and by everyone who waited for it: one crash. */
  const counted = new WeakSet<AppError>();
  /** By file and library. A few entries a lifetime: one per broken file. */
  const remembered = new Map<string, AppError>();

  const live = (key: string) =>
    loaded !== null && loaded.key === key && loaded.info.generation === client.generation() ? loaded.info : null;

  slot.onChange(() => {
    const now = slot.chosen();
    if (now?.modelId !== status.get().modelId || now === null) status.set(shown(now, 'idle'));
  });
  client.onChange((process) => {
    // The engine went without a call in it (killed from outside while idle): the next call loads again.
    if (process.phase === 'exited' && status.get().state === 'ready') status.set(shown(slot.chosen(), 'idle'));
  });

  async function perform(model: InstalledLanguage, load: Load): Promise<LoadedLanguage> {
    const { signal } = load.abort;
    const path = await slot.path(model.modelId);
    const facts = await preflight(path);
    const contextSize = contextOf(facts.trainedContext, settings);
    // Another model's memory must be free before this one's need is compared with what is free.
    if (loaded !== null && loaded.info.generation === client.generation()) {
      // An answer of that model may still run; the engine would make the unload wait, past its deadline.
      await client.idle(signal);
      await client.call('unload', {}, { deadline: { stage: 'unload', ms: engineLimits.loadBaseMs } });
      loaded = null;
    }
    const needBytes = Math.ceil(facts.needBytes(contextSize));
    const freeBytes = machine.availableBytes();
    if (needBytes > freeBytes) throw new AppError('MODEL_DOES_NOT_FIT', { needBytes, freeBytes });
    const generation = await client.start(signal);
    const { libraryVersion } = await client.call('abi', {}, { signal, deadline: { stage: 'start', ms: engineLimits.loadBaseMs } });
    const memory = `${model.sha256}/${libraryVersion}`;
    const before = remembered.get(memory);
    if (before !== undefined) throw before;
    let shownAtMs = clock.monotonicMs();
    try {
      const info = await client.call(
        'load',
        { path, contextSize, threads: threadsFor(settings, machine) },
        {
          signal,
          deadline: { stage: 'load', ms: loadDeadlineMs(facts.fileBytes) },
          onChunk: ({ fraction }) => {
            // Snapshots at most each 100 ms (architecture page, section 4).
            if (clock.monotonicMs() - shownAtMs >= languageLimits.progressMs) {
              shownAtMs = clock.monotonicMs();
              status.set(shown(model, 'loading', { fraction }));
            }
            for (const listener of load.progress) listener(fraction);
          },
        },
      );
      log.info('language.loaded', {
        modelId: model.modelId,
        ms: Math.round(info.loadMs),
        contextSize: info.contextSize,
        cpuVariant: info.cpuVariant,
      });
      return { ...info, modelId: model.modelId, generation };
    } catch (error) {
      if (isAppError(error) && deterministic.includes(error.code)) remembered.set(memory, error);
      throw error;
    }
  }

  function begin(model: InstalledLanguage, key: string): Load {
    // The breaker counts failures of the engine, whatever it had loaded: another model starts with a clean slate.
    if (lastKey !== null && lastKey !== key) client.reset();
    lastKey = key;
    status.set(shown(model, 'loading', { fraction: 0 }));
    const start = async (): Promise<LoadedLanguage> => {
      // A load that was given up may still hold the engine.
      await previous;
      try {
        const info = await perform(model, load);
        loaded = { key, info };
        status.set(shown(model, 'ready', { contextSize: info.contextSize, device: 'cpu', cpuVariant: info.cpuVariant }));
        return info;
      } catch (error) {
        loaded = null;
        failed(model, error);
        throw error;
      } finally {
        if (loading === load) loading = null;
      }
    };
    const previous = loading?.promise.then(nothing, nothing);
    const begun = Promise.withResolvers<LoadedLanguage>();
    const load: Load = { key, promise: begun.promise, abort: new AbortController(), progress: new Set(), waiters: 0 };
    // Everyone may have given up by the time it fails; the failure is then in the status and the log.
    begun.promise.catch(nothing);
    start().then(begun.resolve, begun.reject);
    return load;
  }

  function failed(model: InstalledLanguage, error: unknown): void {
    const app = toAppError(error);
    if (app.code === 'CANCELLED' || app.code === 'SHUTTING_DOWN') {
      if (live(fileKey(model)) === null) status.set(shown(slot.chosen(), 'idle'));
      return;
    }
    if (crashes.includes(app.code) && !counted.has(app)) {
      counted.add(app);
      const count = (crashCounts.get(fileKey(model)) ?? 0) + 1;
      crashCounts.set(fileKey(model), count);
      log.error('language.crashed', { modelId: model.modelId, code: app.code, stage: String(app.data.stage), inARow: count });
    }
    // What failed may have left the model in place (an overlong prompt): then the slot is as ready as before.
    if (live(fileKey(model)) === null) status.set(shown(model, 'error', { error: { code: app.code, data: jsonData(app) } }));
  }

  return {
    status,
    async load(model, { signal, onProgress }) {
      if (signal.aborted) throw new AppError('CANCELLED');
      const key = fileKey(model);
      const count = crashCounts.get(key) ?? 0;
      if (count >= languageLimits.crashes) {
        const off = new AppError('MODEL_DISABLED', { crashes: count });
        status.set(shown(model, 'error', { error: { code: off.code, data: jsonData(off) } }));
        throw off;
      }
      const here = live(key);
      if (here !== null) return here;
      if (loading === null || loading.key !== key || loading.abort.signal.aborted) loading = begin(model, key);
      const load = loading;
      load.waiters += 1;
      load.progress.add(onProgress);
      const given = Promise.withResolvers<never>();
      const giveUp = () => given.reject(new AppError('CANCELLED'));
      signal.addEventListener('abort', giveUp, { once: true });
      try {
        return await Promise.race([load.promise, given.promise]);
      } finally {
        signal.removeEventListener('abort', giveUp);
        load.progress.delete(onProgress);
        load.waiters -= 1;
        if (load.waiters === 0) load.abort.abort();
      }
    },
    succeeded(model) {
      crashCounts.delete(fileKey(model));
    },
    failed(model, error) {
      if (live(fileKey(model)) === null) loaded = null;
      failed(model, error);
    },
    enable(modelId) {
      const model = slot.chosen();
      if (model === null || model.modelId !== modelId) throw new AppError('MODEL_NOT_INSTALLED', { modelId });
      crashCounts.delete(fileKey(model));
      client.reset();
      if (status.get().state === 'error') status.set(shown(model, 'idle'));
    },
  };
}

const nothing = () => {};

/** What is counted and loaded is the file, not its name in the catalogue. */
function fileKey(model: InstalledLanguage): string {
  return `${model.modelId}/${model.sha256}`;
}

function contextOf(trained: number | null, settings: EngineSettings): number {
  const wanted = settings.contextSize ?? languageLimits.defaultContext;
  return Math.max(languageLimits.minContext, trained === null ? wanted : Math.min(trained, wanted));
}

function shown(model: InstalledLanguage | null, state: LanguageStatus['state'], more: Partial<LanguageStatus> = {}): LanguageStatus {
  const empty = { fraction: null, contextSize: null, device: null, cpuVariant: null, error: null };
  if (model === null) return { state: 'none', modelId: null, name: null, ...empty };
  return { state, modelId: model.modelId, name: model.name, ...empty, ...more };
}

function jsonData(error: AppError): Record<string, string | number | boolean | null> {
  const out: Record<string, string | number | boolean | null> = {};
  for (const [name, value] of Object.entries(error.data)) {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') out[name] = value;
  }
  return out;
}
