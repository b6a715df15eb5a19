import { spokenForm } from '../../src/runtime/voice/spoken/spoken.ts';

/** Words of a text as they are compared: lower case, no punctuation. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}']+/gu, ' ')
    .split(' ')
    .filter((word) => word !== '');
}

/**
 * The same with figures as words (VO-109): "5 %" and "five percent", "$3.50" and "three dollars and fifty cents" are one. What a recogniser
 * writes as one word or as two ("sign up", "O.K.") stays different.
 *
 * @param text  English.
 */
export function foldedWords(text: string): string[] {
  return wordsOf(spokenForm(text, { language: 'en' }).spoken).map((word) => word.replaceAll("'", ''));
}

/** Least number of words to change, add or take away to get from one text to the other. */
export function wordErrors(said: string, heard: string): number {
  return distance(wordsOf(said), wordsOf(heard));
}

/** The same over folded words, with the number of words that were said. */
export function foldedErrors(said: string, heard: string): { errors: number; words: number } {
  const truth = foldedWords(said);
  return { errors: distance(truth, foldedWords(heard)), words: truth.length };
}

function distance(from: readonly string[], to: readonly string[]): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, word] of from.entries()) {
    const next = [i + 1];
    for (const [j, other] of to.entries()) {
      next.push(Math.min((row[j] ?? 0) + (word === other ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
