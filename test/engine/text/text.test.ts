import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStopMatcher } from '../../../src/engine/text/stopMatcher.ts';
import { createUtf8Joiner } from '../../../src/engine/text/utf8.ts';
import { verifies } from '../../helpers/verifies.ts';

/** Cuts at any places, also none and several at one. */
function split<T extends string | Uint8Array>(whole: T, cuts: readonly number[]): T[] {
  const at = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length];
  return at.slice(1).map((end, i) => whole.slice(at[i], end) as T);
}

function join(parts: readonly Uint8Array[]): string {
  const joiner = createUtf8Joiner();
  return parts.map((part) => joiner.push(part)).join('') + joiner.end();
}

function stream(stops: readonly string[], parts: readonly string[]): { text: string; stopped: boolean } {
  const matcher = createStopMatcher(stops);
  let text = '';
  let stopped = false;
  for (const part of parts) {
    const step = matcher.push(part);
    text += step.text;
    stopped ||= step.stopped;
  }
  return { text: text + (stopped ? '' : matcher.end()), stopped };
}

describe('UTF-8 in pieces', () => {
  it('GE-06: any split of a text gives the text', () => {
    verifies('GE-06', 'BC-11');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat(400)), (text, cuts) => {
        const whole = text.toWellFormed();
        expect(join(split(new TextEncoder().encode(whole), cuts))).toBe(whole);
      }),
    );
  });

  it('GE-06: any split of any bytes gives what the bytes give at once', () => {
    verifies('GE-06');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.array(fc.nat(60)), (bytes, cuts) => {
        expect(join(split(bytes, cuts))).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
      }),
    );
  });

  it('BC-11: half a character is held, and shown only when it can never be whole', () => {
    verifies('BC-11');
    const joiner = createUtf8Joiner();
    expect([0xf0, 0x9f, 0xa6].map((byte) => joiner.push(Uint8Array.of(byte)))).toEqual(['', '', '']);
    expect(joiner.push(Uint8Array.of(0x89))).toBe('🦉');
    expect(joiner.push(Uint8Array.of(0xc3))).toBe('');
    expect(joiner.end()).toBe('\uFFFD');
    expect(joiner.end()).toBe('');
  });

  it('keeps a mark at the beginning: the model wrote it', () => {
    expect(join([Uint8Array.of(0xef, 0xbb, 0xbf, 0x61)])).toBe('\uFEFFa');
  });
});

describe('stop texts in a stream', () => {
  // Few letters, so that stops overlap and begin falsely all the time.
  const word = (max: number) => fc.string({ unit: fc.constantFrom('a', 'b', 'c', '🦉'), maxLength: max });
  const stopList = fc.array(
    word(4).filter((stop) => stop !== ''),
    { maxLength: 4 },
  );

  it('BC-10: any split gives the same text and the same end', () => {
    verifies('BC-10');
    fc.assert(
      fc.property(stopList, word(40), fc.array(fc.nat(40)), (stops, text, cuts) => {
        // Pieces are whole characters: the joiner before sees to that.
        const characters = [...text];
        const at = [0, ...cuts.map((cut) => cut % (characters.length + 1)).sort((a, b) => a - b), characters.length];
        const parts = at.slice(1).map((end, i) => characters.slice(at[i], end).join(''));
        expect(stream(stops, parts)).toEqual(stream(stops, [text]));
      }),
    );
  });

  it('BC-10: what is shown holds no stop, and is everything when there is none', () => {
    verifies('BC-10');
    fc.assert(
      fc.property(stopList, word(40), (stops, text) => {
        const result = stream(stops, [...text]);
        expect(stops.some((stop) => result.text.includes(stop))).toBe(false);
        expect(result.stopped).toBe(stops.some((stop) => text.includes(stop)));
        expect(text.startsWith(result.text)).toBe(true);
        if (!result.stopped) expect(result.text).toBe(text);
      }),
    );
  });

  it('BC-10: holds back only what may become a stop, and releases it', () => {
    verifies('BC-10');
    const matcher = createStopMatcher(['ENDOFX']);
    const steps = ['The ', 'EN', 'D', ' of', ' EN', 'D', 'OF', 'X'].map((piece) => matcher.push(piece));
    expect(steps.map((step) => step.text)).toEqual(['The ', '', '', 'END of', ' ', '', '', '']);
    expect(steps.at(-1)?.stopped).toBe(true);
    expect(matcher.push('more')).toEqual({ text: '', stopped: true });
  });
});
