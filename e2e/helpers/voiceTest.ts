import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestInfo } from '@playwright/test';
import { logOf } from './launch.ts';
import { freshDataFolder, makeVoiceTemplate } from './template.ts';
import { readSound, type Sound } from './voice.ts';

/** Questions that need a sentence, and that the starter model answers with one. */
export const questions = {
  japan: 'What is the capital of Japan?',
  sun: 'Where does the sun rise?',
  week: 'How many days are in a week?',
} as const;

/** Its answer is read aloud for a minute and more. */
export const longQuestion = 'Tell me a long story about a lighthouse keeper.';

const sentences = { ...questions, long: longQuestion } as const;

/** Everything that is said in these tests, as sound. */
export type Said = { readonly [name in keyof typeof sentences]: Sound };

export type VoiceWorld = { readonly template: string; readonly said: Said };

/** A data folder with the speech models, and sentences said by the voice in it: once for each worker. */
export async function voiceWorld(use: (world: VoiceWorld) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sotto-voice-'));
  const template = path.join(folder, 'data');
  const file = (name: string) => path.join(folder, `${name}.wav`);
  await makeVoiceTemplate(template, new Map(Object.entries(sentences).map(([name, text]) => [file(name), text])));
  const sound = (name: keyof typeof sentences) => readSound(file(name));
  await use({ template, said: { japan: sound('japan'), sun: sound('sun'), week: sound('week'), long: sound('long') } });
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** A data folder of one test that can talk. */
export async function voiceData(world: VoiceWorld, use: (data: string) => Promise<void>, info: TestInfo): Promise<void> {
  const folder = await freshDataFolder(true, world.template);
  await use(folder);
  if (info.status !== info.expectedStatus) await info.attach('sotto.log', { body: await logOf(folder), contentType: 'text/plain' });
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
