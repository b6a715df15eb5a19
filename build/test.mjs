// `npm test`: sets up what is missing and runs everything. `-- --only unit,store` runs the named runners only.
// The last line is `N passed, N failed, N skipped`, summed over all runners from their reports.
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setup } from './setup.mjs';
import { sum, summaryLine } from './support/reports.mjs';
import { inRoot } from './support/root.mjs';
import { checkRunners, runAll, testRunners } from './support/runners.mjs';
import { duration, printProblem, StepProblem } from './support/steps.mjs';

// CI gives half an hour; what is not over by then counts as failed instead of being cut off without a word.
const budgetMs = 27 * 60_000;

const began = performance.now();
const deadline = began + budgetMs;
const all = [...checkRunners, ...testRunners];
const only = selection(process.argv.slice(2));

function selection(args) {
  const value = args.find((arg) => arg.startsWith('--only='))?.slice('--only='.length) ?? args[args.indexOf('--only') + 1];
  if (!args.some((arg) => arg === '--only' || arg.startsWith('--only='))) return null;
  const names = (value ?? '').split(',');
  const unknown = names.filter((name) => !all.some((runner) => runner.name === name));
  if (unknown.length > 0) {
    console.error(`no runner called ${unknown.join(', ')}; there are ${all.map((runner) => runner.name).join(', ')}`);
    process.exit(64);
  }
  return names;
}

const wanted = (runner) => only === null || only.includes(runner.name);
const results = [];
try {
  const { problems } = await setup({ test: true });
  // A set-up step that failed is a result: the tests that need it will fail as well, and this line says why.
  if (problems.length > 0) results.push({ passed: 0, failed: problems.length, skipped: 0 });
  if (only === null) {
    // Proofs of earlier runs must not stand in for tests that did not run now.
    rmSync(inRoot('out', 'requirements'), { recursive: true, force: true });
  }
  console.log('');
  results.push(...(await runAll(checkRunners.filter(wanted), { width: Math.min(2, availableParallelism()), deadline })));
  results.push(...(await runAll(testRunners.filter(wanted), { deadline })));
} catch (cause) {
  if (cause instanceof StepProblem) printProblem('set-up', cause);
  else console.error(cause);
  results.push({ passed: 0, failed: 1, skipped: 0 });
}
const counts = sum(results);
console.log(`\n${duration(performance.now() - began)}\n${summaryLine(counts)}`);
process.exitCode = counts.failed === 0 ? 0 : 1;
