import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kokoroIds, kokoroPhones, kokoroRuns, kokoroSounds } from '../../../src/engine/speech/kokoroPhones.ts';

const vocabulary = { ' ': 16, '.': 4, ',': 3, a: 43, ɹ: 123, ˈ: 156 };

describe('phonemes as Kokoro was taught them', () => {
  it.each([
    ['ɹ, k, l and j stand for what eSpeak writes otherwise', 'rˈuːm loxɬ tʲ', 'ɹˈuːm lokl tj'],
    ['an s that was torn off goes back to its word', 'ðə dˈɑːɡ z, ænd', 'ðə dˈɑːɡz, ænd'],
    ['and at the end', 'ðə dˈɑːɡ z', 'ðə dˈɑːɡz'],
    ['hundred is a word of its own', 'tuːhˈʌndɹɪd', 'tuː hˈʌndɹɪd'],
  ])('%s', (_, phones, wanted) => {
    expect(kokoroPhones(phones, 'en-gb')).toBe(wanted);
  });

  it('ninety is said with a d in America alone, and nineteen nowhere', () => {
    expect(kokoroPhones('nˈaɪnti', 'en-us')).toBe('nˈaɪndi');
    expect(kokoroPhones('nˈaɪnti', 'en-gb')).toBe('nˈaɪnti');
    expect(kokoroPhones('nˈaɪntiːn', 'en-us')).toBe('nˈaɪntiːn');
  });

  it('signs become numbers; those that it does not know are left out, and without a sound there is nothing to speak', () => {
    expect(kokoroIds('aɹ☃, a.', vocabulary)).toEqual([43, 123, 3, 16, 43, 4]);
    for (const none of ['', '. ,', '☃', 'constructor']) expect(kokoroIds(none, { '.': 4, ',': 3 })).toBeNull();
  });

  it('what is longer than the model can take is cut between words, and every sound is in one of the runs', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.constantFrom(43, 123), { minLength: 1, maxLength: 700 }), { minLength: 1, maxLength: 8 }),
        (words) => {
          const ids = words.flatMap((word, at) => (at === 0 ? word : [16, ...word]));
          const runs = kokoroRuns(ids, 16);
          for (const run of runs) {
            expect(run.length).toBeGreaterThan(0);
            expect(run.length).toBeLessThanOrEqual(kokoroSounds);
          }
          expect(runs.flat().filter((id) => id !== 16)).toEqual(ids.filter((id) => id !== 16));
        },
      ),
    );
    const [first] = kokoroRuns([...Array.from({ length: 300 }, () => 43), 16, ...Array.from({ length: 300 }, () => 43)], 16);
    expect(first).toHaveLength(300);
    expect(kokoroRuns([43], undefined)).toEqual([[43]]);
  });
});
