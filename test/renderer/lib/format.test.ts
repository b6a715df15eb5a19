import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { wholeSentences } from '../../../src/renderer/lib/announcer.ts';
import { bytes, dayOf, duration, percent, speed, timeLeft } from '../../../src/renderer/lib/format.ts';
import { safeLink } from '../../../src/renderer/lib/links.ts';
import { isTooLong, wellFormed } from '../../../src/renderer/lib/sending.ts';
import { themeName } from '../../../src/renderer/lib/theme.ts';
import { limits } from '../../../src/shared/domain/limits.ts';
import { verifies } from '../../helpers/verifies.ts';

beforeEach(() => Object.defineProperty(navigator, 'language', { configurable: true, value: 'en-GB' }));

describe('figures', () => {
  it('always carry a unit, and what is not known is "?"', () => {
    verifies('UX-09');
    expect(bytes(0)).toBe('0 B');
    expect(bytes(476_186_000)).toBe('476 MB');
    expect(bytes(1_107_409_472)).toBe('1.1 GB');
    expect(bytes(null)).toBe('?');
    expect(bytes(Number.NaN)).toBe('?');
    expect(speed(0)).toBe('0 B/s');
    expect(speed(null)).toBe('?');
    expect(duration(890)).toBe('0.9 s');
    expect(duration(200_000)).toBe('3 min 20 s');
    expect(duration(null)).toBe('?');
    expect(timeLeft(null)).toBeNull();
    expect(timeLeft(41_000)).toBe('45 s');
    expect(timeLeft(240_000)).toBe('4 min');
  });

  it('percent is rounded down: 100 % is only said when it is done', () => {
    verifies('UX-09');
    expect(percent(0.9999)).toBe('99 %');
    expect(percent(1)).toBe('100 %');
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (a, b) => {
        const value = (x: number) => Number.parseInt(percent(x), 10);
        if (a <= b) expect(value(a)).toBeLessThanOrEqual(value(b));
      }),
    );
  });

  it('days are those of the calendar, not of 24 hours', () => {
    const now = new Date(2026, 4, 3, 0, 30).getTime();
    expect(dayOf(new Date(2026, 4, 2, 23, 50).toISOString(), now)).toBe('yesterday');
    expect(dayOf(new Date(2026, 4, 3, 0, 5).toISOString(), now)).toBe('today');
    expect(dayOf(new Date(2026, 3, 20).toISOString(), now)).toEqual({ date: '20 April' });
    expect(dayOf(new Date(2025, 3, 20).toISOString(), now)).toEqual({ date: '20 April 2025' });
  });
});

describe('texts on their way', () => {
  it('any text becomes one that can be stored, and a whole one is not touched', () => {
    verifies('UX-25');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(wellFormed(text)).toBe(text);
      }),
    );
    expect(wellFormed('a\ud83d')).toBe('a\ufffd');
    expect(wellFormed('\ude00b')).toBe('\ufffdb');
    expect(wellFormed('\ud83d\ude00')).toBe('\ud83d\ude00');
  });

  it('the limit counts bytes of UTF-8, not characters', () => {
    verifies('UX-25');
    expect(isTooLong('a'.repeat(limits.maxInputBytes))).toBe(false);
    expect(isTooLong('a'.repeat(limits.maxInputBytes + 1))).toBe(true);
    expect(isTooLong('€'.repeat(Math.floor(limits.maxInputBytes / 3)))).toBe(false);
    expect(isTooLong('€'.repeat(Math.floor(limits.maxInputBytes / 3) + 1))).toBe(true);
  });

  it('sentences: any way a text grows, what is announced is the text, in whole sentences, once', () => {
    verifies('UX-124');
    fc.assert(
      fc.property(fc.array(fc.constantFrom('A', ' b', '. ', '! ', '?', ' 3.5', '\n\n', 'c '), { maxLength: 40 }), (pieces) => {
        let text = '';
        let from = 0;
        const heard: string[] = [];
        for (const piece of pieces) {
          text += piece;
          const { sentences, end } = wholeSentences(text, from, false);
          expect(end).toBeGreaterThanOrEqual(from);
          from = end;
          if (sentences !== '') heard.push(sentences);
        }
        heard.push(wholeSentences(text, from, true).sentences);
        expect(heard.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
      }),
    );
  });

  it('no address but web and mail is ever a link', () => {
    verifies('RB-04');
    fc.assert(
      fc.property(fc.webUrl(), (url) => {
        expect(safeLink(url)).not.toBeNull();
      }),
    );
    fc.assert(
      fc.property(fc.constantFrom('javascript', 'data', 'file', 'vbscript', 'app', 'blob', 'ftp', 'ws'), fc.string(), (scheme, rest) => {
        expect(safeLink(`${scheme}:${rest}`)).toBeNull();
      }),
    );
  });
});

it('the theme follows the system unless a person chose', () => {
  verifies('UX-274');
  expect(themeName('system', { dark: false, contrast: false })).toBe('light');
  expect(themeName('system', { dark: true, contrast: false })).toBe('dark');
  expect(themeName('system', { dark: true, contrast: true })).toBe('contrast-dark');
  expect(themeName('light', { dark: true, contrast: true })).toBe('light');
  expect(themeName('contrast', { dark: false, contrast: false })).toBe('contrast-light');
});
