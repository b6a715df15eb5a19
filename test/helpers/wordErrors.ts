/** Words of a text as they are compared: lower case, no punctuation. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}']+/gu, ' ')
    .split(' ')
    .filter((word) => word !== '');
}

/** Least number of words to change, add or take away to get from one text to the other. */
export function wordErrors(said: string, heard: string): number {
  const from = wordsOf(said);
  const to = wordsOf(heard);
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
