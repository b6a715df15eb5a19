import { describe, expect, it } from 'vitest';
import { foldedErrors, foldedWords, wordErrors } from './wordErrors.ts';

describe('words that are compared', () => {
  it('counts words that were changed, left out or made up', () => {
    expect(wordErrors('one two three', 'One, two, three!')).toBe(0);
    expect(wordErrors('one two three', 'one four three')).toBe(1);
    expect(wordErrors('one two three', 'three')).toBe(2);
    expect(wordErrors('', 'made up')).toBe(2);
  });

  it('takes figures and their words for the same', () => {
    expect(foldedWords('It costs $1,234.50 (5 %).')).toEqual(
      foldedWords('it costs one thousand two hundred thirty-four dollars and fifty cents, five percent'),
    );
    expect(foldedErrors('Press 2 to lock, 4 or 6 to go on', 'press two to lock four or six to go on')).toEqual({ errors: 0, words: 10 });
    expect(foldedErrors("You don't say", 'you dont see')).toEqual({ errors: 1, words: 3 });
  });
});
