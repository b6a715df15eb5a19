import { AppError } from '../../shared/errors/appError.ts';
import { speechLimits, speechMethods } from '../contract/speech.ts';
import { type ActivityModel, type ActivityState, createSilero } from '../speech/silero.ts';
import { loadedOf } from './loadedOf.ts';
import { serveWorker } from './serve.ts';

// The thread that hears whether somebody speaks.

const { frameSamples, activityStreams } = speechLimits;
const streams = new Map<number, ActivityState>();
const model = loadedOf<ActivityModel>();

serveWorker(
  { 'vad.load': speechMethods['vad.load'], 'vad.frames': speechMethods['vad.frames'], 'vad.close': speechMethods['vad.close'] },
  {
    async 'vad.load'(params, _, { nowMs }) {
      const startMs = nowMs();
      streams.clear();
      const silero = await model.replace(() => createSilero(params));
      await silero.hear(new Float32Array(frameSamples), silero.fresh());
      return { loadMs: nowMs() - startMs };
    },
    async 'vad.frames'({ stream, restart, samples }, _, control) {
      const silero = model.current();
      if (!streams.has(stream) && streams.size >= activityStreams) throw new AppError('TOO_MANY_REQUESTS', { retryAfterSeconds: 1 });
      let state = (restart ? undefined : streams.get(stream)) ?? silero.fresh();
      const probabilities = new Float32Array(samples.length / frameSamples);
      for (let i = 0; i < probabilities.length; i += 1) {
        if (control.isCancelled()) throw new AppError('CANCELLED');
        const heard = await silero.hear(samples.subarray(i * frameSamples, (i + 1) * frameSamples), state);
        probabilities[i] = heard.probability;
        state = heard.state;
      }
      streams.set(stream, state);
      return { probabilities };
    },
    'vad.close'({ stream }) {
      streams.delete(stream);
      return {};
    },
  },
  () => model.dispose(),
);
