import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { SpeechLoadParams } from '../../src/engine/contract/speech.ts';

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
  vad5: { runtimeClass: 'silero-v5', file: 'silero-vad-v5.onnx', parts: [['model', 2_327_524]] },
  vad4: { runtimeClass: 'silero-v4', file: 'silero-vad-v4.onnx', parts: [['model', 1_807_522]] },
} as const;

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
