import { describe, expect, it } from 'vitest';
import { type HeardFacts, isNothing, signalsOf } from '../../../../src/runtime/voice/hearing/nothingHeard.ts';
import { verifies } from '../../../helpers/verifies.ts';

/** A sentence of 3 s, well heard. */
const good: HeardFacts = {
  text: 'What is the weather like in Paris tomorrow?',
  language: 'en',
  soundMs: 4_000,
  voicedMs: 2_600,
  level: -24,
  floor: -58,
  noSpeechProb: 0.01,
  unsure: false,
};
const looped = 'and then we go and then we go and then we go';

// One line: what differs from the good one, its signs, and whether the words count as none.
const table: [name: string, facts: Partial<HeardFacts>, signs: string[], nothing: boolean][] = [
  ['a sentence', {}, [], false],
  ['no words', { text: ' … ' }, [], true],
  ['(a) alone: a word in a long press', { voicedMs: 700, text: 'Stop it now.' }, ['voiced-share'], false],
  ['(b) alone: a loud room', { level: -30, floor: -34 }, ['level'], false],
  ['(c) alone', { noSpeechProb: 0.7 }, ['engine'], false],
  ['(c) alone: doubted words', { unsure: true }, ['engine'], false],
  ['(d) alone: three words, three times', { text: looped }, ['repeats'], false],
  ['(d) alone: a text that packs too well', { text: 'la '.repeat(60), voicedMs: 30_000, soundMs: 40_000 }, ['repeats'], false],
  ['(e) alone: somebody says thank you', { text: 'Thank you.', voicedMs: 600, soundMs: 1_400 }, ['phantom'], false],
  ['(f) alone', { text: 'one two three four five six seven eight nine ten', voicedMs: 1_100, soundMs: 1_500 }, ['too-fast'], false],
  [
    '(a) and (b): words made of noise',
    { voicedMs: 100, level: -55, floor: -58, text: 'I know.' },
    ['voiced-share', 'level', 'too-fast'],
    true,
  ],
  ['(b) and (c)', { level: -55, floor: -58, noSpeechProb: 0.6 }, ['level', 'engine'], true],
  ['(c) and (d)', { noSpeechProb: 0.9, text: looped }, ['engine', 'repeats'], true],
  ['(e) with (a): a farewell that nobody said', { text: 'Thanks for watching!', voicedMs: 500 }, ['voiced-share', 'phantom'], true],
  ['(e) with (b)', { text: 'Thank you.', voicedMs: 900, soundMs: 1_400, level: -60, floor: -62 }, ['level', 'phantom'], true],
  ['(e) of another language is no phantom', { text: 'Thank you.', language: 'de', voicedMs: 900, soundMs: 4_000 }, ['voiced-share'], false],
  ['(e) but spoken long enough', { text: 'Thank you.', voicedMs: 2_000, soundMs: 9_000 }, ['voiced-share'], false],
  ['no sound at all', { level: null, floor: null, voicedMs: 0, soundMs: 0 }, ['level', 'too-fast'], true],
  ['nothing could tell who speaks', { voicedMs: null }, [], false],
];

describe('nothing heard (VO-58)', () => {
  it.each(table)('%s', (_name, facts, signs, nothing) => {
    verifies('VO-58');
    const all = { ...good, ...facts };
    expect(signalsOf(all)).toEqual(signs);
    expect(isNothing(all)).toBe(nothing);
  });
});
