import type { TranscribeResult } from '../contract/speech.ts';

/** Guards against words that nobody said (speech facts, section 3). All are free: they read what the model has computed anyway. */
export const guards = {
  /** More certain than this at the first step that nothing follows: nobody spoke, whatever the activity model says. */
  noSpeech: 0.9,
  /** Mean log-probability below which a person is asked again, and below which the words are thrown away. */
  unsure: -0.4,
  unintelligible: -0.8,
  tokensPerSecond: 6.5,
  extraTokens: 2,
  maxTokens: 192,
  loopTokens: 8,
  loopTimes: 4,
} as const;

/** Most tokens (the end marker included) that real speech of this length has. */
export function tokenCap(seconds: number): number {
  return Math.min(guards.maxTokens, Math.ceil(guards.tokensPerSecond * seconds) + guards.extraTokens);
}

/**
 * How many tokens to keep when the end of the list is one group of up to eight tokens four times over: all but three of the groups.
 *
 * @returns `null` if it is no loop.
 */
export function loopStart(tokens: readonly number[]): number | null {
  for (let size = 1; size <= guards.loopTokens; size += 1) {
    const from = tokens.length - size * guards.loopTimes;
    if (from < 0) return null;
    let same = true;
    for (let i = from + size; i < tokens.length && same; i += 1) same = tokens[i] === tokens[i - size];
    if (same) return from + size;
  }
  return null;
}

/** What may be done with an answer. */
export function verdictOf(answer: {
  readonly tokens: number;
  readonly end: TranscribeResult['end'];
  readonly averageLogProb: number;
  readonly noSpeechProb: number;
}): TranscribeResult['verdict'] {
  if (answer.end === 'silence' || answer.noSpeechProb > guards.noSpeech || answer.tokens === 0) return 'no-speech';
  if (answer.end === 'cap' || answer.averageLogProb < guards.unintelligible) return 'unintelligible';
  return answer.averageLogProb < guards.unsure || answer.end === 'loop' ? 'unsure' : 'ok';
}
