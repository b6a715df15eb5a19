import type { Accent, Phonemizer } from './phonemizer.ts';

/**
 * Signs that make a pause or a tone; both phonemizers lose them, so only what stands between goes through (speech facts, section 6). Between
 * letters or digits ("3.14", "10:30") such a sign is part of the word, and the phonemizer knows how to read it.
 */
const pauses = /([;!?¡¿—…"«»“”()]+|[.,:]+(?![\p{L}\p{N}]))/u;
const sayable = /[\p{L}\p{N}]/u;

/**
 * Phonemes of a phrase with its punctuation in place.
 *
 * @returns no letter if there is nothing to pronounce.
 */
export async function spokenPhones(text: string, phonemizer: Phonemizer, accent: Accent): Promise<string> {
  const plain = text.normalize('NFC').replaceAll(/[‘’]/g, "'").replaceAll(/\s+/g, ' ');
  let out = '';
  for (const run of plain.split(pauses)) {
    if (!sayable.test(run)) out += run;
    else out += `${/^\s/.test(run) ? ' ' : ''}${(await phonemizer.phonemes(run.trim(), accent)).trim()}${/\s$/.test(run) ? ' ' : ''}`;
  }
  return out.replaceAll(/ +/g, ' ').trim();
}

/**
 * Numbers of a Piper voice: start, padding, then each sign's number and padding, then the end. Signs that the voice does not know are left out.
 *
 * @returns `null` if no sign is a sound.
 */
export function phoneIds(phones: string, map: Readonly<Record<string, readonly number[]>>): number[] | null {
  const pad = map['_'] ?? [0];
  const ids = [...(map['^'] ?? [1]), ...pad];
  let sounds = 0;
  for (const sign of phones.normalize('NFD')) {
    const own = map[sign];
    if (own === undefined || reserved.includes(sign)) continue;
    if (/\p{L}/u.test(sign)) sounds += 1;
    ids.push(...own, ...pad);
  }
  return sounds === 0 ? null : [...ids, ...(map['$'] ?? [2])];
}

const reserved = ['_', '^', '$'];
