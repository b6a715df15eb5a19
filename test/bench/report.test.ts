import { describe, expect, it } from 'vitest';
import { medianOf, reaches, tableOf } from './report.ts';

describe('a bench report', () => {
  it('takes the middle, not the mean', () => {
    expect(medianOf([9, 1, 2])).toBe(2);
    expect(medianOf([4, 1, 2, 100])).toBe(3);
    expect(medianOf([])).toBeNaN();
  });

  it('knows a miss', () => {
    expect(reaches(0.94, '≥ 0.95')).toBe(false);
    expect(reaches(1.5, '≤ 1.5')).toBe(true);
    expect(reaches(1, '')).toBeNull();
    const row = {
      id: 'P1',
      what: 'decode',
      value: 0.5,
      unit: 'ratio',
      against: 'x',
      goal: '≥ 0.95',
      better: 'higher',
      runs: 3,
      min: 0.4,
      max: 0.6,
    } as const;
    expect(tableOf([row])).toContain('MISSED');
  });
});
