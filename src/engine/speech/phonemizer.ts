import { createRequire } from 'node:module';

/** American or British English; other languages come with voices that speak them. */
export type Accent = 'en-us' | 'en-gb';

/**
 * Text as IPA. Two forms: eSpeak NG (GPL-3.0-or-later, the better one) and npm `phonemize` (MIT). Only the worker that speaks loads one.
 *
 * @param text  without punctuation that makes a pause; one run of words.
 */
export type Phonemizer = { phonemes(text: string, accent: Accent): Promise<string> };

export async function createPhonemizer(form: 'espeak-ng' | 'phonemize'): Promise<Phonemizer> {
  return form === 'espeak-ng' ? createEspeak() : createPhonemize();
}

async function createEspeak(): Promise<Phonemizer> {
  // It installs handlers for uncaught errors that throw again; they are gone before they can end a worker with its 1.3 MB source line.
  const before = process.listeners('uncaughtException');
  const rejections = process.listeners('unhandledRejection');
  const { phonemize } = await import('phonemizer');
  for (const added of process.listeners('uncaughtException')) if (!before.includes(added)) process.off('uncaughtException', added);
  for (const added of process.listeners('unhandledRejection')) if (!rejections.includes(added)) process.off('unhandledRejection', added);
  return { phonemes: async (text, accent) => (await phonemize(text, accent)).join(' ') };
}

async function createPhonemize(): Promise<Phonemizer> {
  // Its module for `import` does not load on Node 24. It knows American English only.
  const { phonemize } = createRequire(import.meta.url)('phonemize') as { phonemize(text: string): string };
  return { phonemes: async (text) => phonemize(text).replaceAll('ɫ', 'l') };
}
