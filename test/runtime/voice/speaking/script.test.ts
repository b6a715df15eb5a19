import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { voiceLimits as limits } from '../../../../src/runtime/voice/limits.ts';
import { createScript, type Line } from '../../../../src/runtime/voice/speaking/script.ts';
import { verifies } from '../../../helpers/verifies.ts';

const linesOf = (pieces: readonly string[], language = 'en'): Line[] => {
  const script = createScript(language);
  return [...pieces.flatMap((piece) => script.push(piece)), ...script.end()];
};
const said = (text: string, language = 'en') => linesOf([text], language).map(({ form }) => form.spoken);

const listOf = (count: number) => Array.from({ length: count }, (_, i) => `- the entry with number ${i} of all of them\n`).join('');
const tableOf = (rows: number) =>
  `| a | b |\n|---|---|\n${Array.from({ length: rows }, (_, row) => `| left ${row} | right ${row} |\n`).join('')}`;

const part = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(
    'Yes. ',
    'It costs $5, **in all**. ',
    '\n',
    '```js\nlet a;\n```\n',
    'See [it](https://a.example). ',
    '🙂 ',
    '1. one\n2. two\n',
  ),
  fc.integer({ min: 1, max: 30 }).map(listOf),
  fc.integer({ min: 1, max: 4 }).map((rows) => `\n${tableOf(rows)}\n`),
  fc.lorem({ mode: 'sentences', maxCount: 3 }).map((text) => `${text} `),
);
const answer = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));

/** The text in random pieces. */
const cut = (text: string, at: readonly number[]) => {
  const places = [...new Set([0, ...at.map((each) => each % (text.length + 1)), text.length])].sort((a, b) => a - b);
  return places.slice(1).map((end, i) => text.slice(places[i], end));
};

describe('an answer as lines for a voice', () => {
  it('is the same in whatever pieces it comes, and every word is in exactly one range', () => {
    fc.assert(
      fc.property(answer, fc.array(fc.nat(), { maxLength: 30 }), fc.constantFrom('en', 'de', 'nl'), (text, at, language) => {
        const whole = linesOf([text], language);
        expect(linesOf(cut(text, at), language)).toEqual(whole);
        let before = 0;
        for (const { start, end } of whole) {
          expect(start).toBeGreaterThanOrEqual(before);
          expect(end).toBeGreaterThan(start);
          before = end;
        }
        expect(before).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.array(fc.constantFrom('one', 'two.', 'three,', 'twenty', '\n', 'end!'), { maxLength: 200 }), (words) => {
        const text = words.join(' ');
        const lines = linesOf([text]);
        for (const word of text.matchAll(/[a-z]+/g)) {
          const inside = lines.filter(({ start, end }) => start <= word.index && word.index + word[0].length <= end);
          expect(inside).toHaveLength(1);
        }
        const spoken = lines.map(({ form }) => form.spoken).join(' ');
        expect(spoken.match(/[a-z]+/g)).toEqual(text.match(/[a-z]+/g));
      }),
      { numRuns: 200 },
    );
  });

  it('UX-44: names code and tables, reads the text of a link, and never a thought', () => {
    const text =
      '<think>secret plan</think>Look:\n```js\nlet hidden = 1;\n```\nSee [the docs](https://a.example/x).\n\n| a | b |\n|---|---|\n| c | d |\n';
    expect(said(text)).toEqual(['Look:', 'The code is on screen.', 'See the docs.', 'A table with one row is on screen.']);
    expect(said('<think>never closed')).toEqual([]);
  });

  it('reads a list up to 600 spoken characters and names the rest once', () => {
    verifies('VO-67');
    const text = `Here it is:\n${listOf(30)}Done.`;
    const lines = linesOf([text]);
    const spoken = lines.map(({ form }) => form.spoken);
    expect(spoken[0]).toBe('Here it is:');
    expect(spoken.at(-1)).toBe('Done.');
    expect(spoken.at(-2)).toBe('The rest of the list is on screen.');
    expect(spoken.slice(1, -2).join('').length).toBeLessThanOrEqual(limits.summaryCharacters);
    expect(spoken.slice(1, -2).join('').length).toBeGreaterThan(limits.summaryCharacters - 60);
    const rest = lines.at(-2);
    expect(text.slice(rest?.start, rest?.end)).toMatch(/^- the entry[\s\S]*number 29 of all of them$/);
    expect(said(`Da:\n${listOf(30)}`, 'de').at(-1)).toBe('Der Rest der Liste steht auf dem Bildschirm.');
    // No words for it in this language: nothing is left out.
    expect(said(listOf(30), 'nl')).toHaveLength(30);
  });

  it('counts a list with empty lines and indented text between its entries as one', () => {
    const text = Array.from({ length: 12 }, (_, i) => `${i + 1}. **Step ${i}**\n\n   This is what has to be done in the step.\n`).join(
      '\n',
    );
    const spoken = said(`${text}\nThat is all.`);
    expect(spoken.filter((each) => each.includes('on screen'))).toHaveLength(1);
    expect(spoken.at(-1)).toBe('That is all.');
    expect(said(`${listOf(8)}\nA paragraph.\n\n${listOf(8)}`).filter((each) => each.includes('on screen'))).toHaveLength(0);
  });

  it('reads no mark of Markdown, wherever the pieces and the time limit cut it (VO-117)', () => {
    const marked = fc.constantFrom(
      '**bold',
      'more bold** ',
      '*thin, one, two, three, four, five* ',
      '***both*** ',
      '__init__ and snake_case ',
      '~~gone~~ ',
      '`let a = b[0]` ',
      '``a `tick` b`` ',
      '[a link](https://a.example/b_c?d=e#f) ',
      '[a page][1] ',
      '![a cat](cat.png) ',
      '\n# Heading\n',
      '\n### 3. Heading\n',
      '\n> quoted\n>> twice\n',
      '\n- [x] done\n* star\n+ plus\n1. one\n10) ten\n',
      '\n| a | b |\n|---|:-:|\n| *c* | `d` |\n',
      '\n```ts\nconst a = `b`;\n```\n',
      '\n---\n',
      'a | b \\\n',
      '<b>tag</b><br> ',
      '&lt;i&gt; ',
      '$x_1^2$ and \\(y\\) ',
      '[^1] and [2] ',
      'Words. ',
      'More words, ',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(marked, fc.boolean()), { maxLength: 14 }), fc.constantFrom('en', 'de'), (pieces, language) => {
        const script = createScript(language);
        const lines = pieces.flatMap(([text, isLate]) => [...script.push(text), ...(isLate ? script.flush() : [])]);
        for (const { form } of [...lines, ...script.end()]) expect(form.spoken).not.toMatch(/[*_`#|<>~[\]\\{}^]/);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps a date in one phrase, and a year a year', () => {
    expect(said('He was born on May 3, 1985, in Paris.')).toEqual(['He was born on May third, nineteen eighty-five,', 'in Paris.']);
  });

  it('has nothing to say for signs, and for nothing', () => {
    for (const text of ['', ' \n', '🙂', '---\n', '...', '**']) expect(said(text)).toEqual([]);
  });

  it('names the rest of a list early when time is over, and only once', () => {
    const script = createScript('en');
    script.push(listOf(30));
    expect(script.hasRest()).toBe(true);
    expect(script.flush().map(({ form }) => form.spoken)).toEqual(['The rest of the list is on screen.']);
    expect([...script.push(listOf(5)), ...script.end()]).toEqual([]);
  });
});
