import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { countExit, countPlaywright, countVitest, sum, summaryLine } from '../../build/support/reports.mjs';

// Bugs that these would catch: a run that found no test, or that crashed after its last one, shown as green.
describe('counting a run', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sotto-reports-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  function report(value: unknown): string {
    const file = join(folder, 'report.json');
    writeFileSync(file, JSON.stringify(value));
    return file;
  }

  const vitest = (passed: number, failed: number, files: { status: string; assertionResults: { status: string }[] }[] = []) =>
    report({ numPassedTests: passed, numFailedTests: failed, numPendingTests: 2, numTodoTests: 1, testResults: files });

  it('takes the numbers of a vitest report', () => {
    expect(countVitest(0, vitest(5, 0))).toEqual({ passed: 5, failed: 0, skipped: 3 });
    expect(countVitest(1, vitest(5, 2))).toEqual({ passed: 5, failed: 2, skipped: 3 });
  });

  it('counts a test file that could not be loaded', () => {
    const broken = { status: 'failed', assertionResults: [] };
    const failing = { status: 'failed', assertionResults: [{ status: 'failed' }] };
    expect(countVitest(1, vitest(5, 1, [broken, failing]))).toEqual({ passed: 5, failed: 2, skipped: 3 });
  });

  it('counts no test, no report and a bad exit as a failure', () => {
    expect(countVitest(0, vitest(0, 0)).failed).toBe(1);
    expect(countVitest(0, join(folder, 'absent.json')).failed).toBe(1);
    expect(countVitest(1, vitest(5, 0)).failed).toBe(1);
  });

  it('takes the numbers of a Playwright report, a flaky test as failed', () => {
    const stats = { expected: 7, unexpected: 1, flaky: 2, skipped: 3 };
    expect(countPlaywright(1, report({ stats, errors: [] }))).toEqual({ passed: 7, failed: 3, skipped: 3 });
    expect(countPlaywright(1, report({ stats: { expected: 0, unexpected: 0, flaky: 0, skipped: 0 }, errors: [{}] })).failed).toBe(1);
    expect(countPlaywright(0, report({ stats: { expected: 0, unexpected: 0, flaky: 0, skipped: 0 }, errors: [] })).failed).toBe(1);
  });

  it('sums into the line that CI reads', () => {
    expect(summaryLine(sum([countExit(0), countExit(3), { passed: 4, failed: 0, skipped: 2 }]))).toBe('5 passed, 1 failed, 2 skipped');
  });
});
