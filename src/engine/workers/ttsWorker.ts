import { speechMethods } from '../contract/speech.ts';
import { corrupt } from '../speech/onnx.ts';
import { createPhonemizer } from '../speech/phonemizer.ts';
import { createPiper, type Speaker } from '../speech/piper.ts';
import { loadedOf } from './loadedOf.ts';
import { serveWorker } from './serve.ts';

// The thread that speaks. The phonemizer is loaded here and nowhere else.

const model = loadedOf<Speaker>();

serveWorker(
  { 'tts.load': speechMethods['tts.load'], 'tts.speak': speechMethods['tts.speak'] },
  {
    async 'tts.load'(params, _, { nowMs, isCancelled }) {
      const startMs = nowMs();
      if (params.runtimeClass !== 'piper') throw corrupt('another kind of model');
      const speaker = await model.replace(async () => createPiper(params, await createPhonemizer(params.phonemizer)));
      // The first phrase sets up phonemizer and buffers; nobody should wait for that.
      await speaker.speak('Hello.', 1, isCancelled);
      return { loadMs: nowMs() - startMs, sampleRate: speaker.sampleRate };
    },
    async 'tts.speak'({ text, speed }, _, { nowMs, isCancelled }) {
      const startMs = nowMs();
      const speaker = model.current();
      return { samples: await speaker.speak(text, speed, isCancelled), sampleRate: speaker.sampleRate, ms: nowMs() - startMs };
    },
  },
  () => model.dispose(),
);
