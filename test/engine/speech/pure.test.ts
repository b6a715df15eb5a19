import { describe, expect, it } from 'vitest';
import { guards, loopStart, tokenCap, verdictOf } from '../../../src/engine/speech/guards.ts';
import { phoneIds, spokenPhones } from '../../../src/engine/speech/phones.ts';
import { prepareSound, trimPhrase } from '../../../src/engine/speech/sound.ts';
import { createTokenizer } from '../../../src/engine/speech/tokenizer.ts';
import type { AppError } from '../../../src/shared/errors/appError.ts';

const tone = (seconds: number, amplitude: number, offset = 0) =>
  new Float32Array(Math.round(seconds * 16_000)).map((_, i) => offset + amplitude * Math.sin((2 * Math.PI * 200 * i) / 16_000));
const peakOf = (samples: Float32Array) => samples.reduce((peak, value) => Math.max(peak, Math.abs(value)), 0);

describe('the tokenizer', () => {
  const json = JSON.stringify({
    model: { vocab: { '<unk>': 0, '<s>': 1, '</s>': 2, '<0xC3>': 3, '<0xA9>': 4, '▁caf': 5, '▁noir': 6, '.': 7 } },
    added_tokens: [{ id: 8, content: '<<ST_0>>' }],
  });

  it('joins pieces and bytes to whole characters and leaves markers out', () => {
    const tokenizer = createTokenizer(json);
    expect(tokenizer.decode([1, 5, 3, 4, 6, 7, 8, 2])).toBe('café noir.');
    expect(tokenizer.decode([])).toBe('');
  });

  it.each(['', '{', '{}', '{"model":{"vocab":{"a":"b"}}}'])('refuses %j as damaged', (text) => {
    expect(() => createTokenizer(text)).toThrow(expect.objectContaining({ code: 'MODEL_FILE_CORRUPT' }));
  });
});

describe('guards against made-up words', () => {
  it('the cap grows with the sound and has a ceiling', () => {
    expect([0.3, 1, 10, 60].map(tokenCap)).toEqual([4, 9, 67, guards.maxTokens]);
  });

  it('a group of up to eight tokens four times in a row is a loop; three times is speech', () => {
    const group = [11, 12, 13];
    expect(loopStart([9, ...group, ...group, ...group])).toBeNull();
    expect(loopStart([9, ...group, ...group, ...group, ...group])).toBe(4);
    expect(loopStart([5, 5, 5, 5])).toBe(1);
    const nine = Array.from({ length: 9 }, (_, i) => i + 20);
    expect(loopStart([...nine, ...nine, ...nine, ...nine])).toBeNull();
  });

  it.each([
    [{}, 'ok'],
    [{ averageLogProb: -0.41 }, 'unsure'],
    [{ averageLogProb: -0.81 }, 'unintelligible'],
    [{ end: 'cap' as const }, 'unintelligible'],
    [{ end: 'loop' as const }, 'unsure'],
    [{ noSpeechProb: 0.91 }, 'no-speech'],
    [{ tokens: 0 }, 'no-speech'],
    [{ end: 'silence' as const }, 'no-speech'],
  ])('%j is %s', (change, verdict) => {
    expect(verdictOf({ tokens: 5, end: 'end', averageLogProb: -0.1, noSpeechProb: 0.01, ...change })).toBe(verdict);
  });
});

describe('sound for the recogniser', () => {
  it('brings a quiet voice with a constant offset to one level', () => {
    const { samples, silent, seconds } = prepareSound(tone(2, 0.005, 0.2));
    expect(silent).toBe(false);
    expect(seconds).toBe(2);
    expect(peakOf(samples)).toBeCloseTo(0.9, 3);
    expect(Math.abs(samples.reduce((sum, value) => sum + value, 0) / samples.length)).toBeLessThan(1e-3);
  });

  it('puts low noise, never zeros, around less than a second', () => {
    const { samples, seconds } = prepareSound(tone(0.3, 0.5));
    expect(samples).toHaveLength(16_000);
    expect(seconds).toBeCloseTo(0.3, 5);
    const before = samples.subarray(0, 5_000);
    expect(peakOf(before)).toBeLessThanOrEqual(1e-3);
    expect(before.filter((value) => value === 0).length).toBeLessThan(5);
    expect(prepareSound(tone(0.3, 0.5)).samples).toEqual(samples);
  });

  it.each([
    ['zeros', 0, 0],
    ['a constant', 0, 0.2],
    ['less than −80 dBFS', 5e-5, 0],
  ])('%s is silence, not something to amplify', (_, amplitude, offset) => {
    expect(prepareSound(tone(1, amplitude, offset)).silent).toBe(true);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses a sample that is %d', (bad) => {
    const samples = tone(1, 0.1);
    samples[77] = bad;
    expect(() => prepareSound(samples)).toThrow(expect.objectContaining({ code: 'INVALID_AUDIO' } satisfies Partial<AppError>));
  });

  it('cuts silence off a phrase but for 30 ms, and begins and ends at zero', () => {
    const samples = new Float32Array(22_050);
    samples.fill(0.5, 5_000, 15_000);
    const out = trimPhrase(samples, 22_050);
    expect(out.length).toBe(10_000 + 2 * Math.round(0.03 * 22_050));
    expect([out[0], out.at(-1)]).toEqual([0, 0]);
    expect(trimPhrase(new Float32Array(1_000), 22_050)).toHaveLength(0);
    expect(peakOf(trimPhrase(new Float32Array(1_000).fill(3), 22_050))).toBe(1);
  });
});

describe('phonemes with their punctuation', () => {
  const asked: string[] = [];
  const echo = {
    async phonemes(text: string) {
      asked.push(text);
      return text;
    },
  };

  it('asks for the words between pauses only, and keeps numbers and times whole', async () => {
    asked.length = 0;
    expect(await spokenPhones('Well,  it’s 3.14 at 10:30!  Good?', echo, 'en-us')).toBe("Well, it's 3.14 at 10:30! Good?");
    expect(asked).toEqual(['Well', "it's 3.14 at 10:30", 'Good']);
  });

  it('maps signs to numbers with padding between; unknown signs and reserved ones stay out', () => {
    const map = { _: [0], '^': [1], $: [2], a: [7], '.': [9] };
    expect(phoneIds('a^.☃', map)).toEqual([1, 0, 7, 0, 9, 0, 2]);
  });

  it.each(['', '...', '^', '☃'])('%j is nothing to speak', (text) => {
    expect(phoneIds(text, { _: [0], '^': [1], $: [2], a: [7], '.': [9] })).toBeNull();
  });
});
