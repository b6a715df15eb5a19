// `npm run check`: format, lint, types, boundaries, unused, unit tests. Under a minute; run it before every commit.
import { availableParallelism } from 'node:os';
import { sum, summaryLine } from './support/reports.mjs';
import { checkRunners, runAll } from './support/runners.mjs';
import { duration } from './support/steps.mjs';

const began = performance.now();
const counts = sum(await runAll(checkRunners, { width: Math.min(3, availableParallelism()) }));
console.log(`\n${duration(performance.now() - began)}\n${summaryLine(counts)}`);
process.exitCode = counts.failed === 0 ? 0 : 1;
