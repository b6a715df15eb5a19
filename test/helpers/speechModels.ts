import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { SpeechLoadParams } from '../../src/engine/contract/speech.ts';

/** Voices of Kokoro that tests load; all 28 lie in the file, in the order of the catalogue's layout. */
const kokoroVoices =
  'af_alloy af_aoede af_bella af_heart af_jessica af_kore af_nicole af_nova af_river af_sarah af_sky am_adam am_echo am_eric am_fenrir am_liam am_michael am_onyx am_puck am_santa bf_alice bf_emma bf_isabella bf_lily bm_daniel bm_fable bm_george bm_lewis'.split(
    ' ',
  );

type Model = {
  readonly runtimeClass: SpeechLoadParams['runtimeClass'];
  readonly file: string;
  readonly parts: readonly (readonly [role: string, bytes: number])[];
};

/** Real speech models for native tests, as the catalogue names them: file, and its parts in their order. */
const models = {
  asr: {
    runtimeClass: 'moonshine',
    file: 'moonshine-tiny-en.pack',
    parts: [
      ['encoder', 7_937_661],
      ['decoder', 20_243_286],
      ['tokenizer', 1_985_533],
    ],
  },
  tts: {
    runtimeClass: 'piper',
    file: 'piper-en-us-joe-medium.pack',
    parts: [
      ['model', 63_201_294],
      ['voice', 4_794],
    ],
  },
  kokoro: {
    runtimeClass: 'kokoro',
    file: 'kokoro-82m-v1.0-en-float.pack',
    parts: [['model', 91_838_045], ['vocabulary', 1_155], ...kokoroVoices.map((id) => [`style.${id}`, 522_240] as const)],
  },
  vad5: { runtimeClass: 'silero-v5', file: 'silero-vad-v5.onnx', parts: [['model', 2_327_524]] },
  vad4: { runtimeClass: 'silero-v4', file: 'silero-vad-v4.onnx', parts: [['model', 1_807_522]] },
} as const satisfies Record<string, Model>;

export type SpeechModelName = keyof typeof models;

/** Path of a real model: SOTTO_TEST_MODELS, or where setup keeps it. A test without it fails: skipped it would look like a passing one. */
export function speechModelPath(which: SpeechModelName): string {
  const { file } = models[which];
  const path = join(process.env['SOTTO_TEST_MODELS'] ?? join(homedir(), '.cache', 'sotto', 'models'), file);
  if (!existsSync(path)) throw new Error(`the test model ${file} is not there: run \`npm run setup -- --test\``);
  return path;
}

export function speechModel(which: SpeechModelName): SpeechLoadParams {
  const path = speechModelPath(which);
  const files: SpeechLoadParams['files'] = {};
  let offset = 0;
  for (const [role, bytes] of models[which].parts) {
    files[role] = { path, offset, bytes };
    offset += bytes;
  }
  return { runtimeClass: models[which].runtimeClass, files };
}
