import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { phraseLimits as limits } from '../../../../src/runtime/speech/phrases/limits.ts';
import { createPhraser, type Phrase } from '../../../../src/runtime/speech/phrases/phraser.ts';
import { sayCharacters } from '../../../../src/shared/domain/voice.ts';

function phrasesOf(pieces: readonly string[], language = 'en'): Phrase[] {
  const phraser = createPhraser({ language });
  return [...pieces.flatMap((piece) => phraser.push(piece)), ...phraser.end()];
}
const texts = (text: string, language = 'en') => phrasesOf([text], language).map((phrase) => phrase.text);
const lettersOf = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '');

const cases: readonly (readonly [string, readonly string[], string?])[] = [
  ['Hello there. How are you? Fine!', ['Hello there.', 'How are you?', 'Fine!']],
  ['One; two: three… four', ['One;', 'two:', 'three…', 'four']],
  ['Wait... what?! "Really?" he said.', ['Wait...', 'what?!', '"Really?"', 'he said.']],
  ['こんにちは。元気ですか？はい', ['こんにちは。', '元気ですか？', 'はい']],
  ['First line\nsecond line\n\nthird', ['First line', 'second line', 'third']],
  ['Yes, of course, if you want that, I will', ['Yes, of course, if you want that,', 'I will']],
  ['Pi is 3.14 and more. It is 14:05 now', ['Pi is 3.14 and more.', 'It is 14:05 now']],
  ['It costs $1,234.50 today.', ['It costs $1,234.50 today.']],
  ['Dr. Smith met J. R. Jones, e.g. at 5 p.m. in No. 7.', ['Dr. Smith met J. R. Jones,', 'e.g. at 5 p.m. in No. 7.']],
  ['Am 3. Mai, z. B. um 14:05 Uhr. Gut.', ['Am 3. Mai, z. B. um 14:05 Uhr.', 'Gut.'], 'de'],
  ['Das ist Nr. 5 bzw. Nr. 6. Ja', ['Das ist Nr. 5 bzw. Nr. 6. Ja'], 'de'],
  ['I have 3. You have 4.', ['I have 3.', 'You have 4.']],
  ['See https://a.example/x?y=1. Then go', ['See https://a.example/x?y=1.', 'Then go']],
  ['Write to jill@a.example. Thanks', ['Write to jill@a.example.', 'Thanks']],
  ['See [the docs. All of them](https://a.example/x) now. Yes', ['See [the docs. All of them](https://a.example/x) now.', 'Yes']],
  ['Call `foo. bar()` first. Then', ['Call `foo. bar()` first.', 'Then']],
  ['1. Eat. More\n2. Sleep', ['1. Eat.', 'More', '2. Sleep']],
  ['- one\n- two\n---\n* three', ['- one', '- two', '* three']],
  ['Do this:\n```js\nlet a = 1. + 2;\n\nfoo. bar\n```\nDone.', ['Do this:', '```js\nlet a = 1. + 2;\n\nfoo. bar\n```', 'Done.']],
  ['Look\n| a | b. c |\n|---|---|\n| 1 | 2 |\nso', ['Look', '| a | b. c |\n|---|---|\n| 1 | 2 |', 'so']],
  ['<think>Hm. Let me. See</think>It is five.', ['<think>Hm. Let me. See</think>', 'It is five.']],
  ['So <think>never. closed', ['So', '<think>never. closed']],
  ['$$ a. b $$\nnext', ['$$ a. b $$', 'next']],
  ['**Bold.** And *more.* Yes', ['**Bold.**', 'And *more.*', 'Yes']],
  ['!!! ??? ...', []],
  ['', []],
  ['🙂 🙂', []],
  ['So:\n```\n{}\n```\n', ['So:', '```\n{}\n```']],
  ['a < big. And <b', ['a < big.', 'And <b']],
];

describe('phrases (VO-60)', () => {
  it.each(cases.map(([text, expected, language]) => ({ text, expected, language })))('$text', ({ text, expected, language }) => {
    expect(texts(text, language)).toEqual(expected);
  });

  it('are the same however the text is split', () => {
    for (const [text, expected, language] of cases) {
      expect(phrasesOf([...text].map(String), language).map((phrase) => phrase.text)).toEqual(expected);
    }
    const bits = fc.constantFrom(
      ...cases.map(([text]) => text),
      '. ',
      ', ',
      ' ',
      '\n',
      '`',
      '[',
      '](',
      ')',
      '<think>',
      '</think>',
      '```\n',
      '|',
      'word',
      '3.1',
      'Dr. ',
      '。',
      '$$',
      '🙂',
    );
    const story = fc.array(bits, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(story, fc.array(fc.nat({ max: 300 }), { maxLength: 12 }), fc.constantFrom('en', 'de'), (text, places, language) => {
        const cuts = [...new Set([0, ...places.map((place) => Math.min(place, text.length)), text.length])].sort((a, b) => a - b);
        const pieces = cuts.slice(1).map((cut, index) => text.slice(cuts[index], cut));
        expect(phrasesOf(pieces, language)).toEqual(phrasesOf([text], language));
      }),
      { numRuns: 1_000 },
    );
  });

  it('hold every letter exactly once, in order, at the range they name', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...cases.map(([text]) => text)), fc.string()), { maxLength: 8 }), (parts) => {
        const text = parts.join(' ');
        const phrases = phrasesOf([text]);
        expect(phrases.map((phrase) => lettersOf(phrase.text)).join('')).toBe(lettersOf(text));
        for (const [index, phrase] of phrases.entries()) {
          expect(phrase.index).toBe(index);
          expect(text.slice(phrase.start, phrase.end)).toBe(phrase.text);
          expect(phrase.start).toBeGreaterThanOrEqual(phrases[index - 1]?.end ?? 0);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('end at the token limit, between words', () => {
    const phrases = texts(Array.from({ length: 90 }, (_, index) => `w${index}`).join(' '));
    expect(phrases.length).toBeGreaterThan(2);
    for (const phrase of phrases) expect(phrase.split(' ').length).toBeLessThanOrEqual(limits.tokens);
  });
});

describe('long text (BC-23, VO-61)', () => {
  it('120 words without punctuation, 600 letters without a space, 40,000 characters: every word, in pieces of at most 200', () => {
    const words = Array.from({ length: 120 }, (_, index) => `word${index}`).join(' ');
    const letters = 'x'.repeat(600);
    const much = 'This goes on and on without any end '.repeat(1_200).slice(0, sayCharacters);
    for (const text of [words, letters, much, '🙂a'.repeat(400)]) {
      const phrases = texts(text);
      expect(lettersOf(phrases.join(''))).toBe(lettersOf(text));
      for (const phrase of phrases) {
        expect(phrase.length).toBeLessThanOrEqual(limits.characters);
        expect(phrase).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/);
      }
    }
    for (const phrase of texts(words)) for (const word of phrase.split(' ')) expect(words.split(' ')).toContain(word);
  });

  it('gives the first phrase before the rest is there', () => {
    const phraser = createPhraser({ language: 'en' });
    expect(phraser.push('Sure. ')).toHaveLength(1);
    expect(createPhraser({ language: 'en' }).push('x'.repeat(201))).toHaveLength(1);
  });
});

describe('the time limit', () => {
  it('cuts between words, never in a word, a number, a link or code', () => {
    const phraser = createPhraser({ language: 'en' });
    phraser.push('the answer to your quest');
    expect(phraser.flush().map((phrase) => phrase.text)).toEqual(['the answer to your']);
    expect(phraser.push('ion is [the. ')).toEqual([]);
    expect(phraser.flush().map((phrase) => phrase.text)).toEqual(['question is']);
    phraser.push('docs here](https://a.exa');
    expect(phraser.flush()).toEqual([]);
    phraser.push('mple/x) yes');
    expect(phraser.end().map((phrase) => phrase.text)).toEqual(['[the. docs here](https://a.example/x) yes']);
    const code = createPhraser({ language: 'en' });
    code.push('```js\nlet a = 1;\n');
    expect(code.flush()).toEqual([]);
    expect(createPhraser({ language: 'en' }).flush()).toEqual([]);
  });

  it('what is flushed and what follows hold every letter', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...cases.map(([text]) => text)), fc.string()), { maxLength: 8 }), (parts) => {
        const phraser = createPhraser({ language: 'en' });
        const phrases = [...parts.flatMap((part) => [...phraser.push(part), ...phraser.flush()]), ...phraser.end()];
        expect(phrases.map((phrase) => lettersOf(phrase.text)).join('')).toBe(lettersOf(parts.join('')));
      }),
      { numRuns: 300 },
    );
  });
});
