import { AppError, isAppError } from '../../shared/errors/appError.ts';
import type { Vad, VadModel } from '../inference/vad.ts';
import type { Logger } from '../platform/ports.ts';
import type { EngineClient } from './engineClient.ts';
import type { LoadedSpeech, SpeechEngine } from './speechEngine.ts';
import type { SpeechSlots } from './speechPorts.ts';

/** A frame takes a millisecond; this long means that the engine hangs. */
const FRAME_MS = 10_000;

/** The activity model on this machine: the installed one, else the one that comes with Sotto (VO-103). */
export function createLocalVad(deps: { client: EngineClient; engine: SpeechEngine; slots: SpeechSlots; log: Logger }): Vad {
  const { client, engine, slots, log } = deps;
  let streams = 0;
  /** A file that was refused is not tried again while it stays the same. */
  let refused: string | null = null;

  async function load(signal: AbortSignal): Promise<{ loaded: LoadedSpeech; spare: VadModel['spare'] }> {
    const chosen = slots.chosen('activity');
    const spare = slots.spareActivity();
    if (chosen !== null && chosen.sha256 !== refused) {
      try {
        return { loaded: await engine.load('activity', chosen, signal), spare: null };
      } catch (error) {
        if (!isAppError(error, 'VAD_UNAVAILABLE') || spare === null) throw error;
        refused = chosen.sha256;
        log.warn('vad.spare', { modelId: chosen.modelId, reason: String(error.data['reason']) });
      }
    }
    return { loaded: await engine.load('activity', spare, signal), spare: chosen === null ? 'model-missing' : 'load-failed' };
  }

  async function ready(signal: AbortSignal): Promise<VadModel & { generation: number }> {
    // A model that is loaded already is no reason to open a stream that nobody waits for.
    if (signal.aborted) throw new AppError('CANCELLED');
    const { loaded, spare } = await load(signal);
    const { onset, offset } = loaded.model.activity ?? { onset: 0.5, offset: 0.35 };
    return { modelId: loaded.model.modelId, onset, offset, spare, generation: loaded.generation };
  }

  return {
    async ready({ signal }) {
      const { generation: _, ...model } = await ready(signal);
      return model;
    },
    async open({ signal }) {
      const { generation, ...model } = await ready(signal);
      const stream = (streams += 1);
      let restart = true;
      return {
        model,
        async probabilities(samples, { signal: stop }) {
          const leave = await engine.turnstiles.activity.enter(stop);
          try {
            // A new engine knows neither this stream nor the model.
            if (client.generation() !== generation) throw new AppError('ENGINE_CRASHED', { engineKey: client.key, stage: 'activity' });
            const params = { stream, restart, samples };
            restart = false;
            return (await client.call('vad.frames', params, { signal: stop, deadline: { stage: 'activity', ms: FRAME_MS } })).probabilities;
          } finally {
            leave();
          }
        },
        reset() {
          restart = true;
        },
        async close() {
          // An engine of a later life does not know this stream.
          if (client.generation() !== generation) return;
          await client.call('vad.close', { stream }, { deadline: { stage: 'activity', ms: FRAME_MS } });
        },
      };
    },
  };
}
