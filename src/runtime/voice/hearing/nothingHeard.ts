import { deflateSync } from 'node:zlib';
import { phantoms as en } from './phantoms.en.ts';

/** What is known of an utterance when its words come (VO-58). */
export type HeardFacts = {
  readonly text: string;
  /** Language tag of the words. */
  readonly language: string;
  /** Of the whole sound that was taken. */
  readonly soundMs: number;
  /** In which somebody spoke; null if nothing could tell. */
  readonly voicedMs: number | null;
  /** dBFS of the voiced frames, and of the quietest tenth of all; null without any sound. */
  readonly level: number | null;
  readonly floor: number | null;
  /** The recogniser's own probability that nobody spoke. */
  readonly noSpeechProb: number;
  /** The recogniser doubts its words. */
  readonly unsure: boolean;
};

export type NothingSignal = 'voiced-share' | 'level' | 'engine' | 'repeats' | 'phantom' | 'too-fast';

const least = { voicedShare: 0.25, aboveFloorDb: 6, noSpeech: 0.6, repeats: 3, compression: 2.4, phantomMs: 2_000, wordsPerSecond: 8 };

const phantoms: Readonly<Record<string, ReadonlySet<string>>> = { en: new Set(en) };

/** Case, marks and spaces folded. */
const fold = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** The signs that the words were made up, in the order of VO-58. */
export function signalsOf(facts: HeardFacts): NothingSignal[] {
  const { voicedMs, soundMs, level, floor } = facts;
  const folded = fold(facts.text);
  const words = folded === '' ? [] : folded.split(' ');
  const found: NothingSignal[] = [];
  if (voicedMs !== null && voicedMs < least.voicedShare * soundMs) found.push('voiced-share');
  if (level === null || (floor !== null && level < floor + least.aboveFloorDb)) found.push('level');
  if (facts.noSpeechProb >= least.noSpeech || facts.unsure) found.push('engine');
  if (repeats(words) || compression(facts.text) > least.compression) found.push('repeats');
  const spokenMs = voicedMs ?? soundMs;
  if (phantoms[facts.language.split('-')[0] ?? '']?.has(folded) === true && spokenMs < least.phantomMs) found.push('phantom');
  // "don't" is one word.
  if (facts.text.trim().split(/\s+/u).length * 1_000 > least.wordsPerSecond * spokenMs) found.push('too-fast');
  return found;
}

/** Whether the words count as none: a phantom phrase with any other sign, or two of the others. No words are nothing. */
export function isNothing(facts: HeardFacts): boolean {
  if (fold(facts.text) === '') return true;
  return signalsOf(facts).length >= 2;
}

/** The same three words in a row, three times. */
function repeats(words: readonly string[]): boolean {
  const times = new Map<string, number>();
  for (let at = 0; at + 3 <= words.length; at += 1) {
    const run = words.slice(at, at + 3).join(' ');
    const now = (times.get(run) ?? 0) + 1;
    if (now >= least.repeats) return true;
    times.set(run, now);
  }
  return false;
}

/** How much shorter a text gets by what repeats in it, as Whisper measures it. */
function compression(text: string): number {
  const bytes = Buffer.from(text, 'utf8');
  return bytes.length === 0 ? 0 : bytes.length / deflateSync(bytes).length;
}
