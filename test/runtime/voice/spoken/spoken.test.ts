import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { voiceLimits as limits } from '../../../../src/runtime/voice/limits.ts';
import { spokenForm, writtenLength } from '../../../../src/runtime/voice/spoken/spoken.ts';
import { verifies } from '../../../helpers/verifies.ts';

const Cases = z.record(z.string(), z.array(z.tuple([z.string(), z.string()])));
const cases = Cases.parse(JSON.parse(readFileSync(new URL('./cases.json', import.meta.url), 'utf8')));
const all = Object.entries(cases).flatMap(([language, list]) => list.map(([text, spoken]) => ({ language, text, spoken })));
const say = (text: string, language = 'en') => spokenForm(text, { language }).spoken;

describe('the spoken form', () => {
  it.each(all)('$language: $text', ({ language, text, spoken }) => {
    expect(say(text, language)).toBe(spoken);
  });

  it('is what the golden files say, with at least 40 cases per language, and nothing for nothing', () => {
    verifies('VO-68');
    expect(all.length).toBeGreaterThanOrEqual(120);
    for (const list of Object.values(cases)) expect(list.length).toBeGreaterThanOrEqual(40);
    for (const { language, text, spoken } of all) expect(say(text, language)).toBe(spoken);
    for (const nothing of ['', '   ', '---', '🙂', '...', '```', '<think>x</think>']) {
      if (nothing !== '```') expect(spokenForm(nothing, { language: 'en' })).toEqual({ spoken: '', map: [] });
    }
  });

  it('reads no mark of markup, whatever surrounds it', () => {
    const marked = all.filter(({ text }) => /[*_`#|[\]<>~]/.test(text));
    for (const { text, language } of marked) expect(say(text, language)).not.toMatch(/[*_`#|[\]<>~$]/);
  });

  it('keeps the example of the specification to the letter', () => {
    verifies('VO-66');
    expect(say('On 3/5/2026 at 14:05, v2.10, 3–5 km')).toBe(
      'On March fifth, twenty twenty-six at two oh five p.m., version two point ten, three to five kilometers',
    );
    expect(say('Am 3.5.2026 um 14:05: 1.234,50 €, z. B. hier', 'de')).toBe(
      'Am dritten Mai zweitausendsechsundzwanzig um vierzehn Uhr fünf: eintausendzweihundertvierunddreißig Euro fünfzig, zum Beispiel hier',
    );
  });

  it('leaves figures alone in a language it has no words for', () => {
    expect(say('Het kost **€ 5** op 3-5.', 'nl')).toBe('Het kost € 5 op 3-5.');
  });

  it('names a long list or table, and reads all of it on request', () => {
    verifies('VO-67');
    const list = Array.from({ length: 30 }, (_, index) => `- the entry with number ${index} of all`).join('\n');
    expect(say(`Here:\n${list}\nDone.`)).toBe('Here: A list with thirty entries is on screen. Done.');
    const full = spokenForm(`Here:\n${list}`, { language: 'en', full: true }).spoken;
    expect(full.length).toBeGreaterThan(limits.summaryCharacters);
    expect(full).toContain('number twenty-nine of all');
    expect(say('- one\n- two')).toBe('one, two');
    const table = `| a | b |\n|---|---|\n${Array.from({ length: 40 }, (_, row) => `| left ${row} | right ${row} |`).join('\n')}\n`;
    expect(say(table)).toBe('A table with forty rows is on screen.');
    const read = spokenForm(table, { language: 'en', full: true }).spoken;
    expect(read).toContain('left three, right three, left four');
    expect(read).not.toMatch(/[|-]{2}|\|/);
  });
});

describe('the way back to the written text (VO-66)', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'grapheme' }),
    fc.array(fc.constantFrom(...all.map((each) => each.text), ' ', '\n'), { maxLength: 5 }).map((parts) => parts.join(' ')),
  );

  it('never throws, gives the same again, and its ranges are in order in both texts', () => {
    fc.assert(
      fc.property(text, fc.constantFrom('en', 'de', 'nl'), fc.boolean(), (written, language, full) => {
        const form = spokenForm(written, { language, full });
        expect(spokenForm(written, { language, full })).toEqual(form);
        let [spokenAt, writtenAt] = [0, 0];
        for (const range of form.map) {
          expect(range.from).toBe(spokenAt);
          expect(range.to).toBeGreaterThan(range.from);
          expect(range.start).toBeGreaterThanOrEqual(writtenAt);
          expect(range.end).toBeGreaterThanOrEqual(range.start);
          [spokenAt, writtenAt] = [range.to, range.end];
        }
        expect(spokenAt).toBe(form.spoken.length);
        expect(writtenAt).toBeLessThanOrEqual(written.length);
      }),
      { numRuns: 500 },
    );
  });

  it('points at the words that are said', () => {
    const written = 'It costs **$5** at [the shop](https://a.example/x). Yes';
    const form = spokenForm(written, { language: 'en' });
    const rangeOf = (word: string) => {
      const at = form.spoken.indexOf(word);
      return form.map.find((range) => range.from <= at && at + word.length <= range.to);
    };
    const money = rangeOf('five dollars');
    expect(written.slice(money?.start, money?.end)).toBe('$5');
    for (const word of ['It costs', 'the shop', 'Yes']) {
      const range = rangeOf(word);
      expect(range).toBeDefined();
      const length = writtenLength(form, form.spoken.indexOf(word) + word.length);
      expect(written.slice(0, length).endsWith(word)).toBe(true);
    }
  });

  it('grows with what was said, and counts a replaced piece only when it is over', () => {
    fc.assert(
      fc.property(fc.constantFrom(...all), ({ text: written, language }) => {
        const form = spokenForm(written, { language });
        let before = 0;
        for (let at = 0; at <= form.spoken.length; at += 1) {
          const length = writtenLength(form, at);
          expect(length).toBeGreaterThanOrEqual(before);
          before = length;
        }
        expect(before).toBe(form.map.at(-1)?.end ?? 0);
      }),
      { numRuns: 100 },
    );
    const form = spokenForm('$1,234 is much', { language: 'en' });
    expect(writtenLength(form, 5)).toBe(0);
    expect(writtenLength(form, form.spoken.indexOf(' is'))).toBe('$1,234'.length);
  });
});
