import { rmSync } from 'node:fs';
import { pinnedNode, withPinnedNode } from './node24.mjs';
import { run, tailOf } from './process.mjs';
import { countExit, countPlaywright, countVitest, summaryLine } from './reports.mjs';
import { inRoot } from './root.mjs';
import { duration, logFile } from './steps.mjs';
import { works } from './system.mjs';

const minutes = 60_000;
const bin = (name) => inRoot('node_modules', '.bin', name);
const node = (script, ...rest) => [pinnedNode().path, script, ...rest];
const reportFile = (name) => inRoot('out', 'reports', `${name}.json`);

// Without a display the window tests make one of their own, which keeps a person's windows out of them.
const ownDisplay = { DISPLAY: '', WAYLAND_DISPLAY: '' };

const check = (name, command, env = {}) => ({ name, timeout: 8 * minutes, command, env, count: countExit });

const vitest = (name, timeout) => ({
  name,
  timeout,
  command: () =>
    node(
      bin('vitest'),
      'run',
      ...['--project', name],
      ...['--reporter=default', '--reporter=json', '--reporter=./test/requirements/reporter.ts'],
      `--outputFile.json=${reportFile(name)}`,
    ),
  count: (code) => countVitest(code, reportFile(name)),
});

const proofs = ',./test/requirements/playwrightReporter.ts';
const playwright = (name, timeout, projects, { wrap = (command) => command, rest = [], report = proofs } = {}) => ({
  name,
  timeout,
  command: () =>
    wrap(node(bin('playwright'), 'test', ...projects.map((project) => `--project=${project}`), ...rest, `--reporter=list,json${report}`)),
  env: { PLAYWRIGHT_JSON_OUTPUT_NAME: reportFile(name), ...ownDisplay },
  count: (code) => countPlaywright(code, reportFile(name)),
});

// A network namespace with a loopback and no route: what passes here needs no network.
const namespace = process.getuid?.() === 0 ? ['unshare', '--net'] : ['unshare', '--map-root-user', '--net'];
const withoutRoutes = (command) => [...namespace, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...command];

/** What `npm run check` runs: no build, no window, no model. */
export const checkRunners = [
  check('lint', () => node(bin('eslint'), '.', '--max-warnings=0')),
  check('types', () => node('build/types.mjs')),
  check('boundaries', () => node(bin('depcruise'), '--config', '.dependency-cruiser.cjs', 'src', 'native')),
  check('unused', () => node(bin('knip'))),
  check('format', () => [bin('biome'), 'check', '--linter-enabled=false', '--error-on-warnings']),
  vitest('unit', 5 * minutes),
];

/** What `npm test` runs after them, one after the other: they measure memory, kill processes and open windows. */
export const testRunners = [
  check('build', () => node('build/bundle.mjs')),
  vitest('page', 5 * minutes),
  vitest('contract', 5 * minutes),
  vitest('store', 5 * minutes),
  vitest('process', 8 * minutes),
  vitest('native', 8 * minutes),
  vitest('check', 3 * minutes),
  playwright('web', 8 * minutes, ['web']),
  playwright('electron', 8 * minutes, ['electron']),
  {
    // Faults of devices and engines have nothing to do with the network; that one talks without it is what counts. It proves no rows: what
    // it leaves out would take back what the whole files proved before.
    ...playwright('offline', 12 * minutes, ['web', 'electron'], {
      wrap: withoutRoutes,
      rest: ['--grep-invert=made up|microphones and loudspeakers|killed engine|hard mute'],
      report: '',
    }),
    impossible: () => (works([...namespace, 'true']) ? null : 'this system gives no network namespace'),
  },
  check('crash', () => node('test/crash/run.ts', '--kills', '4', '--seed', '11'), ownDisplay),
  check('requirements', () => node('test/requirements/report.ts', '--known')),
];

/**
 * Runs one runner, its output into a log; prints a line, and the end of the log when it failed.
 *
 * @param deadline  `performance.now()` value at which everything has to be over.
 * @returns {Promise<import('./reports.mjs').Counts>}
 */
export async function runRunner(runner, { deadline = Number.POSITIVE_INFINITY, live = false } = {}) {
  const began = performance.now();
  const log = logFile(runner.name);
  rmSync(reportFile(runner.name), { force: true });
  const left = deadline - began;
  if (left < 1_000) {
    console.log(`✗ ${runner.name.padEnd(14)} no time left`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const why = runner.impossible?.() ?? null;
  if (why !== null) {
    console.log(`- ${runner.name.padEnd(14)} SKIPPED: ${why}`);
    return { passed: 0, failed: 0, skipped: 1 };
  }
  const timeout = Math.min(runner.timeout, left);
  const env = { ...withPinnedNode(), FORCE_COLOR: '0', ...runner.env };
  const { code, timedOut } = await run(runner.command(), { env, timeout, ...(live ? {} : { log }) });
  const counts = runner.count(code);
  const took = duration(performance.now() - began).padStart(12);
  const late = timedOut ? `, ended after ${duration(timeout)}` : '';
  console.log(`${counts.failed === 0 ? '✓' : '✗'} ${runner.name.padEnd(14)}${took}  ${summaryLine(counts)}${late}`);
  if (counts.failed > 0 && !live) console.log(`${tailOf(log, 120)}\n  (all of it: ${log})`);
  return counts;
}

/** Runs runners, at most `width` at a time, in the order of the list. */
export async function runAll(runners, { width = 1, ...options } = {}) {
  const waiting = [...runners];
  const results = [];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results.push(await runRunner(next, options));
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
