import { existsSync, readFileSync, rmSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { BenchRow } from '../bench/report.ts';
import { verifies } from '../helpers/verifies.ts';
import { conclude } from './report.ts';
import { interval95, percentOf, shareInterval95 } from './statistics.ts';

const row = (value: number, goal: string): BenchRow => ({
  id: 'VO-110',
  what: 'made up',
  value,
  unit: 'points',
  against: '',
  goal,
  better: 'lower',
  runs: 150,
  min: value - 1,
  max: value + 1,
});
const name = 'of-a-test';
const file = `out/eval/${name}.json`;
const File = z.object({
  name: z.literal(name),
  at: z.iso.datetime(),
  machine: z.string().min(10),
  seed: z.literal(7),
  count: z.null(),
  interval: z.literal('95 %'),
  rows: z.array(z.object({ runs: z.literal(150), min: z.number(), max: z.number() })).length(2),
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(file, { force: true });
});

describe('an evaluation', () => {
  // The bug: an evaluation that says MISSED in its table and ends well all the same.
  it('VO-109: prints one table, writes one file with date, random number, counts and intervals, and ends with 1 below a bar', () => {
    verifies('VO-109');
    const said = vi.spyOn(console, 'log').mockImplementation(() => {});
    const options = { seed: 7, count: null, only: null };
    expect(conclude(name, [row(-3, '≤ 1'), row(40, '')], options)).toBe(0);
    expect(File.parse(JSON.parse(readFileSync(file, 'utf8'))).rows).toHaveLength(2);
    expect(said.mock.calls.flat().join('\n')).toMatch(/VO-110 {2}made up.*reached/);
    expect(conclude(name, [row(1.01, '≤ 1'), row(0, '')], options)).toBe(1);
    expect(said.mock.calls.flat().join('\n')).toContain('MISSED');
    expect(existsSync(file)).toBe(true);
  });

  it('intervals hold the figure, are narrower with more clips, and are the same each time', () => {
    const of = (count: number) => {
      const clips = Array.from({ length: count }, (_, i) => ({ errors: i % 10 === 0 ? 1 : 0, words: 2 }));
      return interval95(count, (places) => percentOf(places.flatMap((place) => clips[place] ?? [])), 3);
    };
    const [few, many] = [of(40), of(400)];
    expect(few.low).toBeLessThan(5);
    expect(few.high).toBeGreaterThan(5);
    expect(many.high - many.low).toBeLessThan((few.high - few.low) / 2);
    expect(of(40)).toEqual(few);
    // Wilson's own: none of 200 may still be 1.9 in a hundred.
    expect(shareInterval95(0, 200)).toEqual({ low: 0, high: expect.closeTo(0.0188, 3) });
  });
});
