import { describe, expect, it } from 'vitest';
import { cutAtQuiet, quietestPlace } from '../../../src/runtime/speech/cuts.ts';
import { stretchesOf } from '../../../src/runtime/speech/hear.ts';
import { phrasesOf } from '../../../src/runtime/speech/phrases/phraser.ts';
import { verifies } from '../../helpers/verifies.ts';

const texts = (text: string) => phrasesOf(text, 'en').map((phrase) => phrase.text);
const words = (text: string) => text.split(/\s+/).filter((word) => word !== '');

describe('a text as phrases', () => {
  it('VO-60: ends at signs and line breaks, at a comma from four words on, not inside numbers, abbreviations and addresses', () => {
    expect(texts('Hello there. How are you? Fine; really: yes… no\nNext line')).toEqual([
      'Hello there.',
      'How are you?',
      'Fine;',
      'really:',
      'yes…',
      'no',
      'Next line',
    ]);
    expect(texts('Well, it is a long day, is it not, Anna')).toEqual(['Well, it is a long day,', 'is it not, Anna']);
    expect(texts('Dr. J. Holm has 3.14 apples e.g. at a.b.example today.')).toHaveLength(1);
    expect(texts('こんにちは。元気？はい')).toEqual(['こんにちは。', '元気？', 'はい']);
  });

  it('never begins with punctuation only, and says where it stands', () => {
    for (const phrase of phrasesOf('Wait! — ... Now. "Yes." ', 'en')) expect(phrase.text).toMatch(/[\p{L}\p{N}]/u);
    const text = '  One two.  Three four.';
    for (const phrase of phrasesOf(text, 'en')) expect(text.slice(phrase.start, phrase.end)).toBe(phrase.text);
  });

  it('BC-23: long texts are cut at spaces, then by length, and every word is spoken', () => {
    verifies('BC-23');
    const many = Array.from({ length: 120 }, (_, i) => `word${i}`).join(' ');
    const cut = phrasesOf(many, 'en');
    expect(Math.max(...cut.map((phrase) => phrase.text.length))).toBeLessThanOrEqual(200);
    expect(cut.flatMap((phrase) => words(phrase.text))).toEqual(words(many));
    const letters = 'abcdefghij'.repeat(60);
    expect(texts(letters)).toEqual([letters.slice(0, 200), letters.slice(200, 400), letters.slice(400)]);
    const long = 'The quick brown fox jumps over the lazy dog. '.repeat(1_000).slice(0, 40_000);
    expect(phrasesOf(long, 'en').flatMap((phrase) => words(phrase.text))).toEqual(words(long));
    // The first sound waits for one sentence only.
    expect(phrasesOf(long, 'en')[0]?.text).toBe('The quick brown fox jumps over the lazy dog.');
    expect(texts('😀'.repeat(150)).every((text) => text.isWellFormed())).toBe(true);
  });

  it('an empty text is no phrase', () => {
    expect(phrasesOf(' \n ', 'en')).toEqual([]);
  });
});

describe('where a long sound is cut', () => {
  const rate = 16_000;
  const noisy = (seconds: number) => new Float32Array(seconds * rate).map((_, i) => (i % 2 === 0 ? 0.5 : -0.5));

  it('in the middle of the quietest 200 ms between 9 and 15 s', () => {
    const samples = noisy(20);
    samples.fill(0, 4 * rate, 5 * rate);
    samples.fill(0.01, 11 * rate, 11.3 * rate);
    const [first, second, ...rest] = cutAtQuiet(samples, rate, 9, 15);
    expect(rest).toEqual([]);
    expect(first?.end).toBeGreaterThan(11 * rate);
    expect(first?.end).toBeLessThan(11.3 * rate);
    expect(second).toEqual({ start: first?.end, end: samples.length });
  });

  it('nowhere if it is short, and never in pieces beyond the limit', () => {
    expect(cutAtQuiet(noisy(15), rate, 9, 15)).toEqual([{ start: 0, end: 15 * rate }]);
    const pieces = cutAtQuiet(noisy(100), rate, 9, 15);
    expect(pieces.every(({ start, end }) => end - start <= 15 * rate)).toBe(true);
    expect(pieces.slice(0, -1).every(({ start, end }) => end - start >= 9 * rate)).toBe(true);
    expect(quietestPlace(noisy(1), 0, 100, rate)).toBe(50);
  });
});

describe('where somebody speaks', () => {
  const model = { onset: 0.5, offset: 0.35 };
  const of = (...runs: [count: number, probability: number][]) =>
    runs.flatMap(([count, probability]) => Array<number>(count).fill(probability));

  it('begins at the onset, goes on above the offset, and keeps room sound around', () => {
    const probabilities = of([40, 0.4], [20, 0.9], [10, 0.4], [60, 0.1]);
    expect(stretchesOf(probabilities, model, probabilities.length * 512)).toEqual([{ start: 40 * 512 - 3_200, end: 70 * 512 + 3_200 }]);
  });

  it('a short pause is none, a long one divides, a click is nothing', () => {
    const probabilities = of([10, 0.9], [20, 0], [10, 0.9], [40, 0], [2, 0.9], [40, 0], [10, 0.9]);
    const found = stretchesOf(probabilities, model, probabilities.length * 512);
    expect(found).toHaveLength(2);
    expect(found[0]).toEqual({ start: 0, end: 40 * 512 + 3_200 });
    expect(found[1]?.end).toBe(probabilities.length * 512);
  });
});
