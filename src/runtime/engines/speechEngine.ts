import { SpeechLoadParams } from '../../engine/contract/speech.ts';
import type { ModelId } from '../../shared/domain/ids.ts';
import type { ModelLayout, RuntimeClass } from '../../shared/domain/models.ts';
import { AppError, isAppError } from '../../shared/errors/appError.ts';
import type { Logger } from '../platform/ports.ts';
import { type EngineClient, type EngineResult, loadDeadlineMs } from './engineClient.ts';
import type { InstalledSpeech, SpeechSlot, SpeechSlots } from './speechPorts.ts';
import { createTurnstile, type Turnstile } from './turnstile.ts';

/** The method that loads what serves a slot. */
const loaders = { activity: 'vad.load', listen: 'asr.load', speak: 'tts.load' } as const satisfies Record<SpeechSlot, string>;
const missing = { activity: 'VAD_UNAVAILABLE', listen: 'ASR_UNAVAILABLE', speak: 'TTS_UNAVAILABLE' } as const;

export type LoadedSpeech = { readonly model: InstalledSpeech; readonly generation: number; readonly sampleRate: number | null };

export type SpeechEngine = {
  /**
   * The model of a slot, loaded in the engine that lives now. Many may ask at once: there is one load.
   *
   * @throws AppError VAD_UNAVAILABLE, ASR_UNAVAILABLE, TTS_UNAVAILABLE, ENGINE_*, CANCELLED.
   */
  load(slot: SpeechSlot, model: InstalledSpeech | null, signal: AbortSignal): Promise<LoadedSpeech>;
  /** What the engine that lives now holds. */
  loaded(): readonly ModelId[];
  /** One call at a time per slot; eight may wait. */
  readonly turnstiles: Readonly<Record<SpeechSlot, Turnstile>>;
};

/** Which speech models are loaded, and how they get there. */
export function createSpeechEngine(deps: { client: EngineClient; slots: SpeechSlots; log: Logger }): SpeechEngine {
  const { client, slots, log } = deps;
  const present = new Map<SpeechSlot, LoadedSpeech & { readonly key: string }>();
  const loading = { activity: createTurnstile(64), listen: createTurnstile(64), speak: createTurnstile(64) };

  async function perform(slot: SpeechSlot, model: InstalledSpeech, signal: AbortSignal): Promise<LoadedSpeech & { key: string }> {
    const params = { ...loadParams(model, await slots.path(model)), ...(slot === 'speak' ? { model: keyOf(model) } : {}) };
    const generation = await client.start(signal);
    const options = { signal, deadline: { stage: 'load', ms: loadDeadlineMs(model.bytes) } };
    const result: EngineResult<(typeof loaders)[SpeechSlot]> = await client.call(loaders[slot], params, options);
    log.info('speech.loaded', { slot, modelId: model.modelId, ms: Math.round(result.loadMs) });
    return { key: keyOf(model), model, generation, sampleRate: 'sampleRate' in result ? result.sampleRate : null };
  }

  return {
    turnstiles: { activity: createTurnstile(64), listen: createTurnstile(8), speak: createTurnstile(8) },
    loaded: () => [...present.values()].filter(({ generation }) => generation === client.generation()).map(({ model }) => model.modelId),
    async load(slot, model, signal) {
      if (model === null) throw new AppError(missing[slot], { reason: 'model-missing' });
      const live = () => {
        const now = present.get(slot);
        return now !== undefined && now.key === keyOf(model) && now.generation === client.generation() ? now : null;
      };
      const here = live();
      if (here !== null) return here;
      const leave = await loading[slot].enter(signal);
      try {
        const meanwhile = live();
        if (meanwhile !== null) return meanwhile;
        const loaded = await perform(slot, model, signal);
        present.set(slot, loaded);
        return loaded;
      } catch (error) {
        present.delete(slot);
        if (isAppError(error, 'MODEL_NOT_INSTALLED')) throw new AppError(missing[slot], { reason: 'model-missing' }, { cause: error });
        if (isAppError(error, 'MODEL_FILE_CORRUPT')) throw new AppError(missing[slot], { reason: 'load-failed' }, { cause: error });
        throw error;
      } finally {
        leave();
      }
    },
  };
}

/** @throws AppError UNSUPPORTED for a class that no speech adapter runs. */
export function loadParams(model: { runtimeClass: RuntimeClass; layout: ModelLayout }, path: string): SpeechLoadParams {
  const files: SpeechLoadParams['files'] = {};
  let offset = 0;
  for (const { role, bytes } of model.layout) {
    files[role] = { path, offset, bytes };
    offset += bytes;
  }
  const params = SpeechLoadParams.safeParse({ runtimeClass: model.runtimeClass, files });
  if (!params.success) throw new AppError('UNSUPPORTED', { what: model.runtimeClass });
  return params.data;
}

/** What the engine calls a loaded speaking model by. */
export function keyOf(model: InstalledSpeech): string {
  return `${model.modelId}/${model.sha256}`;
}
