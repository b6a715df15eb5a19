import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Engines } from '../../src/runtime/engines/createEngines.ts';
import type { InstalledSpeech, SpeechSlot, SpeechSlots } from '../../src/runtime/engines/speechPorts.ts';
import { createClock } from '../../src/runtime/platform/clock.ts';
import { createNodeStarter } from '../../src/runtime/platform/nodeStarter.ts';
import { ModelId } from '../../src/shared/domain/ids.ts';
import { resample } from '../../src/shared/util/resampler.ts';
import { setUpEngines } from '../runtime/engines/harness.ts';
import { join as joined } from './audio.ts';
import { type SpeechModelName, speechModel, speechModelPath } from './speechModels.ts';

const { signal: never } = new AbortController();

/** A test model as if the registry had it. Its id is its name here. */
export function installedSpeech(which: SpeechModelName): InstalledSpeech {
  const { runtimeClass, files } = speechModel(which);
  const layout = Object.entries(files).map(([role, { bytes }]) => ({ role, bytes }));
  return {
    modelId: ModelId.parse(which),
    sha256: which.padEnd(64, '0'),
    bytes: layout.reduce((sum, part) => sum + part.bytes, 0),
    runtimeClass,
    layout,
    languages: ['en'],
    voices: [{ voiceId: 'joe', name: 'Joe', language: 'en', locale: 'en-US', gender: 'male' }],
    activity: { onset: 0.5, offset: 0.35 },
  };
}

export type RealSpeech = {
  readonly engines: Engines;
  /** Of this runtime; everything that is ever written lies in it. */
  readonly dataDir: string;
  /** Of the speech engines that were started, oldest first. */
  readonly pids: readonly (number | null)[];
  /** A sentence said by the voice: 16 kHz unless told otherwise. */
  say(text: string, options?: { rateHz?: number; speed?: number }): Promise<Float32Array<ArrayBuffer>>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Words to sounds by the other of the two forms: no setting of the product chooses it yet, so the load request is changed on its way. */
function withPhonemizer(message: unknown, phonemizer: string): unknown {
  const Load = z.looseObject({ body: z.looseObject({ method: z.literal('tts.load'), params: z.looseObject({}) }) });
  const load = Load.safeParse(message);
  if (!load.success) return message;
  const { body } = load.data;
  return { ...load.data, body: { ...body, params: { ...body.params, phonemizer } } };
}

/** The real speech engine with the real models of the starter pack, in a process of its own. */
export function realSpeech(change: Partial<SpeechSlots> = {}, phonemizer: 'espeak-ng' | 'phonemize' = 'espeak-ng'): RealSpeech {
  const folder = mkdtempSync(join(tmpdir(), 'sotto-speech-'));
  const chosen = { activity: installedSpeech('vad5'), listen: installedSpeech('asr'), speak: installedSpeech('tts') };
  const standard = {
    chosen: (slot: SpeechSlot) => chosen[slot],
    usable: (slot: SpeechSlot) => [chosen[slot]],
    path: async (model: InstalledSpeech) => speechModelPath(model.modelId as SpeechModelName),
    spareActivity: () => installedSpeech('vad4'),
  };
  const slots: SpeechSlots = { ...standard, ...change };
  const pids: (number | null)[] = [];
  const starter = createNodeStarter({ here: import.meta.url });
  const { engines } = setUpEngines(
    {
      start(spec) {
        const link = starter.start(spec);
        if (spec.args.includes('speech')) pids.push(link.pid());
        return { ...link, post: (message, transfer) => link.post(withPhonemizer(message, phonemizer), transfer) };
      },
    },
    { clock: createClock(), dataDir: folder, env: { PATH: process.env['PATH'] ?? '' }, speechSlots: slots },
  );
  return {
    engines,
    dataDir: folder,
    pids,
    async say(text, { rateHz = 16_000, speed = 1 } = {}) {
      const parts: Float32Array[] = [];
      for await (const { samples, sampleRate } of engines.textToSpeech.speak({ text, speed }, { signal: never }))
        parts.push(resample(samples, sampleRate, rateHz));
      return joined(...parts);
    },
    async [Symbol.asyncDispose]() {
      await engines[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
