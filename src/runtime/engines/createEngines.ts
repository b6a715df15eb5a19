import { engineLimits } from '../../engine/contract/language.ts';
import type { RuntimeHealth } from '../../shared/contract/runtime.ts';
import type { ModelId } from '../../shared/domain/ids.ts';
import type { LanguageStatus } from '../../shared/domain/models.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { ProcessStarter } from '../../shared/supervision/processStarter.ts';
import type { SupervisionLimits } from '../../shared/supervision/state.ts';
import { createSupervisor, engineFailure } from '../../shared/supervision/supervisor.ts';
import type { LiveValue } from '../../shared/util/liveValue.ts';
import type { LanguageModel } from '../inference/languageModel.ts';
import type { SpeechToText } from '../inference/speechToText.ts';
import type { TextToSpeech } from '../inference/textToSpeech.ts';
import type { Vad } from '../inference/vad.ts';
import { childEnv } from '../platform/childEnv.ts';
import { type Machine, residentBytes } from '../platform/machine.ts';
import type { Clock, Logger, Paths } from '../platform/ports.ts';
import { createEngineClient, type EngineClient, loadDeadlineMs } from './engineClient.ts';
import { type FilePreparation, prepareFile } from './filePreparation.ts';
import { createLanguageEngine } from './languageEngine.ts';
import { createLocalLanguageModel } from './localLanguageModel.ts';
import { createLocalSpeechToText } from './localSpeechToText.ts';
import { createLocalTextToSpeech } from './localTextToSpeech.ts';
import { createLocalVad } from './localVad.ts';
import { type InstalledLanguage, type LanguageSlot, languageLimits, type Preflight } from './ports.ts';
import { engineSettings, threadsFor } from './settings.ts';
import { createSpeechEngine } from './speechEngine.ts';
import type { SpeechSlots } from './speechPorts.ts';
import { type SpeechTrial, trialOf } from './speechTrial.ts';
import { createTurnstile } from './turnstile.ts';

export type Engines = {
  /** The local language model that answers now, loaded or not; `null` when none is installed. */
  language(): LanguageModel | null;
  readonly status: LiveValue<LanguageStatus>;
  /** A person asks to try a model again that was switched off (RT-10). @throws AppError MODEL_NOT_INSTALLED. */
  enable(modelId: ModelId): void;
  /**
   * Loads a file in the `probe` engine, generates a little and ends that engine (RT-09): a crash costs a child and a note.
   *
   * @throws AppError MODEL_DOES_NOT_FIT, MODEL_FILE_CORRUPT, MODEL_ARCH_UNSUPPORTED, ENGINE_*, NATIVE_*, CANCELLED.
   */
  trial(path: string, signal: AbortSignal): Promise<void>;
  /**
   * The same for a speech model, which hears or says a little.
   *
   * @returns how fast a speaking model is on this machine.
   * @throws AppError as `trial`, UNSUPPORTED.
   */
  trialSpeech(what: SpeechTrial, signal: AbortSignal): Promise<{ speedFactor: number } | undefined>;
  /** Makes a fetched file ready for this machine, in the `probe` engine. @throws AppError MODEL_FILE_CORRUPT, DISK_FULL, STORE_IO, ENGINE_*, CANCELLED. */
  prepare(
    what: FilePreparation,
    options: { signal: AbortSignal; onProgress: (fraction: number) => void },
  ): Promise<{ bytes: number; sha256: string }>;
  /** What each engine that lives holds now, and how much memory it takes. */
  loaded(): { key: string; memoryBytes: number | null; modelIds: ModelId[] }[];
  readonly vad: Vad;
  readonly speechToText: SpeechToText;
  readonly textToSpeech: TextToSpeech;
  health(): RuntimeHealth['engines'];
  onHealth(listener: () => void): void;
  [Symbol.asyncDispose](): Promise<void>;
};

/** The engine processes of this runtime, one per key, and what they offer. No process starts before it is needed. */
export function createEngines(deps: {
  starter: ProcessStarter;
  paths: Paths;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Logger;
  machine: Machine;
  slot: LanguageSlot;
  preflight: Preflight;
  speechSlots: SpeechSlots;
  /** Tests only. */
  limits?: Partial<SupervisionLimits>;
}): Engines {
  const { clock, log, machine, slot, preflight } = deps;
  const settings = engineSettings(deps.env, machine, log);
  const env = childEnv(deps.paths, deps.env);

  const make = (key: string): EngineClient => {
    const supervisor = createSupervisor({
      starter: deps.starter,
      spec: { name: `engine:${key}`, entry: 'engine', args: [key], env },
      clock,
      log: (event, fields) => log.info(event, fields),
      limits: {
        startMs: engineLimits.startMs,
        pingEveryMs: engineLimits.pingEveryMs,
        pingDeadlineMs: engineLimits.pingDeadlineMs,
        stopWaitMs: engineLimits.stopWaitMs,
        ...deps.limits,
      },
      explain: engineFailure(key),
    });
    return createEngineClient({ key, supervisor, clock, log });
  };
  const languageClient = make('language');
  const probe = make('probe');
  const speechClient = make('speech');
  const clients = [languageClient, speechClient, probe];

  const engine = createLanguageEngine({ client: languageClient, slot, preflight, machine, settings, clock, log });
  const turnstile = createTurnstile(languageLimits.waitingCalls);
  const { speechSlots: slots } = deps;
  const speech = { client: speechClient, engine: createSpeechEngine({ client: speechClient, slots, log }), slots };
  const trials = createTurnstile(languageLimits.waitingCalls);
  const asked = (model: InstalledLanguage): InstalledLanguage => {
    const { temperature } = settings;
    return temperature === null ? model : { ...model, sampling: { topP: 0.9, ...model.sampling, temperature } };
  };
  let present: { sha256: string; face: LanguageModel } | null = null;

  async function inProbe<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const leave = await trials.enter(signal);
    try {
      // A crash in a trial says something about that file, not about the next one.
      probe.reset();
      return await work();
    } finally {
      await probe.stop();
      leave();
    }
  }

  return {
    status: engine.status,
    enable: (modelId) => engine.enable(modelId),
    language() {
      const model = slot.chosen();
      if (model === null) return null;
      if (present === null || present.face.modelId !== model.modelId || present.sha256 !== model.sha256) {
        present = {
          sha256: model.sha256,
          face: createLocalLanguageModel({ model: asked(model), client: languageClient, engine, turnstile }),
        };
      }
      return present.face;
    },
    trial: (path, signal) =>
      inProbe(signal, async () => {
        const facts = await preflight(path);
        const needBytes = Math.ceil(facts.needBytes(languageLimits.minContext));
        const freeBytes = machine.availableBytes();
        if (needBytes > freeBytes) throw new AppError('MODEL_DOES_NOT_FIT', { needBytes, freeBytes });
        const { ms } = await probe.call(
          'trial',
          { path, threads: threadsFor(settings, machine) },
          { signal, deadline: { stage: 'trial', ms: loadDeadlineMs(facts.fileBytes) + engineLimits.decodeStepMs } },
        );
        log.info('trial.passed', { ms: Math.round(ms) });
      }),
    trialSpeech: (what, signal) => inProbe(signal, () => trialOf(probe, what, signal)),
    prepare: (what, options) => inProbe(options.signal, () => prepareFile(probe, what, options)),
    loaded() {
      const { state, modelId } = engine.status.get();
      const held = [
        { client: languageClient, modelIds: state === 'ready' && modelId !== null ? [modelId] : [] },
        { client: speechClient, modelIds: [...speech.engine.loaded()] },
      ];
      return held.flatMap(({ client, modelIds }) =>
        modelIds.length === 0 ? [] : [{ key: client.key, memoryBytes: residentBytes(client.status().pid), modelIds }],
      );
    },
    vad: createLocalVad({ ...speech, log }),
    speechToText: createLocalSpeechToText({ ...speech, clock }),
    textToSpeech: createLocalTextToSpeech(speech),
    health: () =>
      clients.map((client) => {
        const { phase, restarts, lastError } = client.status();
        return { key: client.key, state: phase, restarts, lastError };
      }),
    onHealth(listener) {
      for (const client of clients) client.onChange(listener);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.dispose()));
    },
  };
}
