import { speechLimits, speechMethods } from '../contract/speech.ts';
import { createMoonshine, type Recogniser } from '../speech/moonshine.ts';
import { corrupt } from '../speech/onnx.ts';
import { loadedOf } from './loadedOf.ts';
import { serveWorker } from './serve.ts';

// The thread that understands speech.

const model = loadedOf<Recogniser>();

/** A second of a soft tone: every part of the model runs once before a person waits for it. */
function warmUp() {
  const { sampleRate } = speechLimits;
  return new Float32Array(sampleRate).map((_, i) => 0.1 * Math.sin((2 * Math.PI * 220 * i) / sampleRate));
}

serveWorker(
  { 'asr.load': speechMethods['asr.load'], 'asr.transcribe': speechMethods['asr.transcribe'] },
  {
    async 'asr.load'(params, _, { nowMs, isCancelled }) {
      const startMs = nowMs();
      if (params.runtimeClass !== 'moonshine') throw corrupt('another kind of model');
      const recogniser = await model.replace(() => createMoonshine(params));
      await recogniser.transcribe({ samples: warmUp(), speech: true, draft: [] }, isCancelled);
      return { loadMs: nowMs() - startMs };
    },
    async 'asr.transcribe'(params, _, { nowMs, isCancelled }) {
      const startMs = nowMs();
      return { ...(await model.current().transcribe(params, isCancelled)), ms: nowMs() - startMs };
    },
  },
  () => model.dispose(),
);
