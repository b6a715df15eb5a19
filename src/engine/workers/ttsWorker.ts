import { AppError } from '../../shared/errors/appError.ts';
import { type SpeechLoadParams, speechLimits, speechMethods } from '../contract/speech.ts';
import { createKokoro } from '../speech/kokoro.ts';
import { corrupt } from '../speech/onnx.ts';
import { createPhonemizer, type Phonemizer } from '../speech/phonemizer.ts';
import { createPiper } from '../speech/piper.ts';
import type { Speaker } from '../speech/speaker.ts';
import { serveWorker } from './serve.ts';

// The thread that speaks. The phonemizer is loaded here and nowhere else.

const makers: Partial<Record<SpeechLoadParams['runtimeClass'], (params: SpeechLoadParams, phonemizer: Phonemizer) => Promise<Speaker>>> = {
  piper: createPiper,
  kokoro: createKokoro,
};

/** By the caller's name, the one used last at the end. */
const loaded = new Map<string, Speaker>();

function use(model: string, speaker: Speaker): Speaker {
  loaded.delete(model);
  loaded.set(model, speaker);
  return speaker;
}

async function drop(model: string): Promise<void> {
  const old = loaded.get(model);
  loaded.delete(model);
  await old?.dispose();
}

/** Memory of what goes is free before the next one takes its own. */
async function makeRoom(model: string): Promise<void> {
  await drop(model);
  for (const other of [...loaded.keys()].slice(0, Math.max(0, loaded.size - speechLimits.speakersAtOnce + 1))) await drop(other);
}

serveWorker(
  { 'tts.load': speechMethods['tts.load'], 'tts.speak': speechMethods['tts.speak'] },
  {
    async 'tts.load'({ model, phonemizer, ...params }, _, { nowMs, isCancelled }) {
      const startMs = nowMs();
      const make = makers[params.runtimeClass];
      if (make === undefined) throw corrupt('another kind of model');
      const present = model === '' ? undefined : loaded.get(model);
      if (present !== undefined) return { loadMs: 0, sampleRate: use(model, present).sampleRate };
      await makeRoom(model);
      const speaker = await make(params, await createPhonemizer(phonemizer));
      loaded.set(model, speaker);
      // The first phrase sets up phonemizer and buffers; nobody should wait for that.
      await speaker.speak({ text: 'Hello.', speed: 1, accent: 'en-us' }, isCancelled);
      return { loadMs: nowMs() - startMs, sampleRate: speaker.sampleRate };
    },
    async 'tts.speak'({ model, ...what }, _, { nowMs, isCancelled }) {
      const startMs = nowMs();
      const speaker = loaded.get(model);
      if (speaker === undefined) throw new AppError('INVALID_INPUT', { field: 'model', reason: 'not loaded' });
      const { samples, madeMs } = await use(model, speaker).speak(what, isCancelled);
      return { samples, sampleRate: speaker.sampleRate, ms: nowMs() - startMs, madeMs };
    },
  },
  async () => {
    for (const model of [...loaded.keys()]) await drop(model);
  },
);
