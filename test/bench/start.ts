import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { _electron } from 'playwright-core';
import { resolveElectron } from '../../build/testElectron/resolve.mjs';
import { playwrightLoader } from '../../e2e/helpers/launch.ts';
import { skipFirstRun } from '../../e2e/helpers/template.ts';
import { type BenchRow, medianOf } from './report.ts';

/** Rounds of one app after the other; what is quoted is the median of the paired ratios (recipes R0, R21). */
const rounds = 7;
const idleBeforeMs = 10_000;
const idleMs = 30_000;
const ticksPerSecond = 100;

type Start = { readonly paintMs: number; readonly keyMs: number };
type Idle = { readonly rssBytes: number; readonly cpuShare: number };

/** P31 and P32: our window against a bare Electron window of the same binary, in one run. */
export async function bench(): Promise<BenchRow[]> {
  const electron = await resolveElectron({ download: false });
  const apps = { hello: path.resolve('test/bench/hello'), sotto: path.resolve('.') };
  const launch = (app: string, home: string) =>
    _electron.launch({
      executablePath: electron.executable,
      args: ['-r', playwrightLoader, ...electron.flags, app],
      timeout: 60_000,
      env: {
        ...definedEnvironment(),
        HOME: home,
        XDG_CONFIG_HOME: home,
        SOTTO_DATA_DIR: path.join(home, 'data'),
        SOTTO_NODE: process.execPath,
      },
      colorScheme: null,
    });

  const paint: number[] = [];
  const key: number[] = [];
  const homes = { hello: freshHome(), sotto: freshHome() };
  await skipFirstRun(path.join(homes.sotto, 'data'));
  try {
    for (const app of ['hello', 'sotto'] as const) await once(apps[app], homes[app]); // fills the profile: a warm start is what people have
    for (let round = 0; round < rounds; round++) {
      const floor = await once(apps.hello, homes.hello);
      const ours = await once(apps.sotto, homes.sotto);
      paint.push(ours.paintMs / floor.paintMs);
      key.push(ours.keyMs / floor.keyMs);
      process.stdout.write(
        `round ${round + 1}: paint ${ours.paintMs.toFixed(0)} / ${floor.paintMs.toFixed(0)} ms, key ${ours.keyMs.toFixed(0)} / ${floor.keyMs.toFixed(0)} ms\n`,
      );
    }
    const floor = await idle(apps.hello, homes.hello);
    const ours = await idle(apps.sotto, homes.sotto);
    return [
      row('P31 paint', 'start to first paint', paint, 'a bare Electron window', '≤ 1.5'),
      row('P31 key', 'start to a key in the composer', key, 'a bare Electron window', '≤ 2.0'),
      row('P32 memory', 'resident memory of all processes, idle', [ours.rssBytes / floor.rssBytes], 'a bare Electron window', '≤ 1.5'),
      {
        ...row('P32 cpu', 'share of a core, idle', [ours.cpuShare], `a bare window: ${floor.cpuShare.toFixed(4)}`, '≤ 0.01'),
        unit: 'of a core',
      },
    ];
  } finally {
    for (const home of Object.values(homes)) rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Both figures count from the moment before the process is started, on the wall clock that the page shares. */
  async function once(app: string, home: string): Promise<Start> {
    const startedAt = Date.now();
    const running = await launch(app, home);
    try {
      const page = await running.firstWindow();
      const field = page.locator('textarea').first();
      await field.waitFor({ state: 'visible' });
      await field.press('a');
      const keyAt = Date.now();
      await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
      const paintAt = await page.evaluate(
        () => performance.timeOrigin + (performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0),
      );
      await field.press('Backspace');
      return { paintMs: paintAt - startedAt, keyMs: keyAt - startedAt };
    } finally {
      await running.close();
    }
  }

  async function idle(app: string, home: string): Promise<Idle> {
    const running = await launch(app, home);
    try {
      await (await running.firstWindow()).locator('textarea').first().waitFor({ state: 'visible' });
      await new Promise((resume) => setTimeout(resume, idleBeforeMs));
      const root = running.process().pid ?? 0;
      const before = tree(root);
      await new Promise((resume) => setTimeout(resume, idleMs));
      const after = tree(root);
      return { rssBytes: after.rssBytes, cpuShare: (after.cpuTicks - before.cpuTicks) / ticksPerSecond / (idleMs / 1000) };
    } finally {
      await running.close();
    }
  }
}

function row(id: string, what: string, ratios: number[], against: string, goal: string): BenchRow {
  return {
    id,
    what,
    value: medianOf(ratios),
    unit: 'ratio',
    against,
    goal,
    better: 'lower',
    runs: ratios.length,
    min: Math.min(...ratios),
    max: Math.max(...ratios),
  };
}

function freshHome(): string {
  return mkdtempSync(path.join(tmpdir(), 'sotto-bench-'));
}

function definedEnvironment(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Resident bytes and CPU ticks of a process and all below it, read from Linux' /proc (proc(5), `stat` fields 4, 14, 15, 24). */
function tree(root: number): { rssBytes: number; cpuTicks: number } {
  const stats = new Map<number, { parent: number; ticks: number; rss: number }>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      stats.set(Number(name), {
        parent: Number(fields[1]),
        ticks: Number(fields[11]) + Number(fields[12]),
        rss: Number(fields[21]) * 4096,
      });
    } catch {
      // The process ended between the list and the read.
    }
  }
  const below = (pid: number): number[] => [
    pid,
    ...[...stats].filter(([, stat]) => stat.parent === pid).flatMap(([child]) => below(child)),
  ];
  const all = below(root).flatMap((pid) => stats.get(pid) ?? []);
  return { rssBytes: all.reduce((sum, one) => sum + one.rss, 0), cpuTicks: all.reduce((sum, one) => sum + one.ticks, 0) };
}
