import { describe, expect, it } from 'vitest';
import { createSieve } from '../../../../src/runtime/voice/hearing/sieve.ts';

const frame = (number: number) => new Float32Array(512).fill(number);

function setUp() {
  const fed: number[] = [];
  const sieve = createSieve((samples) => void fed.push(samples[0] ?? -1));
  let number = 0;
  const silence = (frames: number, from: number | null) => {
    for (let i = 0; i < frames; i += 1) sieve.judge(frame((number += 1)), from === null ? null : from + i * 32);
  };
  const speech = (frames: number) => {
    for (let i = 0; i < frames; i += 1) sieve.judge(frame((number += 1)), 0);
  };
  return { fed, sieve, silence, speech };
}

describe('what the recogniser is given', () => {
  it('of a long silence before speech only the last second: it would find words in the rest', () => {
    const { fed, sieve, silence, speech } = setUp();
    silence(200, null);
    sieve.speechBegins();
    speech(3);
    expect(fed).toHaveLength(32 + 3);
    expect(fed.at(0)).toBe(200 - 31);
    expect(fed.at(-1)).toBe(203);
  });

  it('of a long silence between, a second after speech and the second before the next, in order', () => {
    const { fed, sieve, silence, speech } = setUp();
    speech(2);
    silence(100, 32);
    sieve.speechBegins();
    speech(1);
    expect(fed).toEqual([...fed].sort((a, b) => a - b));
    expect(fed).toHaveLength(2 + 31 + 32 + 1);
  });

  it('all of a sound in which nobody was noticed: a quiet word counts', () => {
    const { fed, sieve, silence } = setUp();
    silence(60, null);
    expect(fed).toEqual([]);
    sieve.end();
    expect(fed).toHaveLength(60);
  });

  it('but never more of it than one piece of the recogniser', () => {
    const { fed, sieve, silence } = setUp();
    silence(2_000, null);
    sieve.end();
    expect(fed.length * 0.032).toBeLessThan(15);
    expect(fed.at(-1)).toBe(2_000);
  });

  it('nothing of the silence behind the last word', () => {
    const { fed, sieve, silence, speech } = setUp();
    speech(10);
    silence(600, 32);
    sieve.end();
    expect(fed).toHaveLength(10 + 31);
  });
});
