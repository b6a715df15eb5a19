import type { Accent } from './phonemizer.ts';

/** What the model takes at once; one more is an error inside it (speech facts, section 6). */
export const kokoroSounds = 510;

/**
 * eSpeak's phonemes as Kokoro was taught them.
 *
 * @source kokoro-js 1.2.1, `phonemize`
 */
export function kokoroPhones(phones: string, accent: Accent): string {
  const mapped = phones
    .replaceAll('kəkˈoːɹoʊ', 'kˈoʊkəɹoʊ')
    .replaceAll('kəkˈɔːɹəʊ', 'kˈəʊkəɹəʊ')
    .replaceAll('ʲ', 'j')
    .replaceAll('r', 'ɹ')
    .replaceAll('x', 'k')
    .replaceAll('ɬ', 'l')
    .replaceAll(/(?<=[a-zɹː])(?=hˈʌndɹɪd)/g, ' ')
    .replaceAll(/ z(?=[;:,.!?¡¿—…"«»“” ]|$)/g, 'z');
  return accent === 'en-us' ? mapped.replaceAll(/(?<=nˈaɪn)ti(?!ː)/g, 'di') : mapped;
}

/**
 * Numbers of the signs; those that the model does not know are left out.
 *
 * @returns `null` if no sign is a sound.
 */
export function kokoroIds(phones: string, vocabulary: Readonly<Record<string, number>>): number[] | null {
  const ids: number[] = [];
  let sounds = 0;
  for (const sign of phones) {
    const id = Object.hasOwn(vocabulary, sign) ? vocabulary[sign] : undefined;
    if (id === undefined) continue;
    if (/\p{L}/u.test(sign)) sounds += 1;
    ids.push(id);
  }
  return sounds === 0 ? null : ids;
}

/** Runs that the model can take, cut between words; without a space by length. */
export function kokoroRuns(ids: readonly number[], space: number | undefined): number[][] {
  const runs: number[][] = [];
  let from = 0;
  while (ids.length - from > kokoroSounds) {
    const lastSpace = space === undefined ? -1 : ids.lastIndexOf(space, from + kokoroSounds);
    const end = lastSpace > from ? lastSpace : from + kokoroSounds;
    runs.push(ids.slice(from, end));
    from = lastSpace > from ? end + 1 : end;
  }
  if (from < ids.length) runs.push(ids.slice(from));
  return runs;
}
