import { readFileSync } from 'node:fs';

/** @typedef {{passed: number, failed: number, skipped: number}} Counts */

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

/** A runner that says nothing about itself: its exit is its one result. */
export const countExit = (code) => (code === 0 ? { passed: 1, failed: 0, skipped: 0 } : { passed: 0, failed: 1, skipped: 0 });

// A bad exit with a clean report is a failure too: an error outside the tests, a crash after the last one, a deadline.
function honest(counts, code) {
  const ran = counts.passed + counts.failed;
  if (counts.failed === 0 && (code !== 0 || ran === 0)) return { ...counts, failed: 1 };
  return counts;
}

/**
 * Counts the tests of a vitest run from its JSON report. No report, and a run without a test, count as one failure.
 *
 * @returns {Counts}
 */
export function countVitest(code, reportFile) {
  const report = readReport(reportFile);
  if (report === null) return { passed: 0, failed: 1, skipped: 0 };
  // A file that could not be loaded has no tests and is failed itself.
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
  ).length;
  return honest(
    { passed: report.numPassedTests, failed: report.numFailedTests + broken, skipped: report.numPendingTests + report.numTodoTests },
    code,
  );
}

/**
 * Counts the tests of a Playwright run from its JSON report; a flaky test counts as failed.
 *
 * @returns {Counts}
 */
export function countPlaywright(code, reportFile) {
  const report = readReport(reportFile);
  if (report === null) return { passed: 0, failed: 1, skipped: 0 };
  const { expected, unexpected, flaky, skipped } = report.stats;
  return honest({ passed: expected, failed: unexpected + flaky + report.errors.length, skipped }, code);
}

/** @param {Counts} counts */
export const summaryLine = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

/** @param {readonly Counts[]} all */
export const sum = (all) =>
  all.reduce((a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped }), {
    passed: 0,
    failed: 0,
    skipped: 0,
  });
