import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';

/** One figure. `value` is a median of `runs`; `min` and `max` are of the same runs. Style page, section 7. */
export type BenchRow = {
  /** Of the performance page, e.g. `P31 paint`. */
  readonly id: string;
  readonly what: string;
  readonly value: number;
  /** `ratio`, `t/s`, `MiB`, … */
  readonly unit: string;
  /** What it was compared with, in the same run. */
  readonly against: string;
  /** `≥ 0.95`, `≤ 2`; '' when the figure is only told. */
  readonly goal: string;
  readonly better: 'higher' | 'lower';
  readonly runs: number;
  readonly min: number;
  readonly max: number;
};

/** Middle value; the mean of the two middle ones when their number is even; NaN of none. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2;
}

/** Whether a value reaches a goal of the form `≥ x` or `≤ x`; null when there is none. */
export function reaches(value: number, goal: string): boolean | null {
  const [, sign, bound] = /^([≥≤])\s*([\d.]+)/.exec(goal) ?? [];
  if (sign === undefined || bound === undefined) return null;
  return sign === '≥' ? value >= Number(bound) : value <= Number(bound);
}

const number = (value: number) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));

/** The table that a person reads. */
export function tableOf(rows: readonly BenchRow[]): string {
  const head = ['id', 'what', 'value', 'min … max', 'runs', 'goal', '', 'against'];
  const lines = rows.map((row) => {
    const good = reaches(row.value, row.goal);
    const mark = good === null ? '' : good ? 'reached' : 'MISSED';
    return [
      row.id,
      row.what,
      `${number(row.value)} ${row.unit}`,
      `${number(row.min)} … ${number(row.max)}`,
      String(row.runs),
      row.goal,
      mark,
      row.against,
    ];
  });
  const widths = head.map((title, column) => Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)));
  return [head, ...lines]
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/**
 * Writes `out/bench/NAME.json`, or `out/eval/NAME.json`.
 *
 * @param more  what else the file says, e.g. the random number that the run began with.
 */
export function writeReport(
  name: string,
  rows: readonly BenchRow[],
  kind: 'bench' | 'eval' = 'bench',
  more: Readonly<Record<string, unknown>> = {},
): string {
  const file = `out/${kind}/${name}.json`;
  mkdirSync(`out/${kind}`, { recursive: true });
  const said = { name, at: new Date().toISOString(), commit: commit(), machine: machine(), ...more, rows };
  writeFileSync(file, `${JSON.stringify(said, null, 2)}\n`);
  return file;
}

function commit(): string {
  try {
    const changed = execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' }) !== '';
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim() + (changed ? ' and changes' : '');
  } catch {
    return 'unknown';
  }
}

/** What the figures were measured on, in words. */
export function machine(): string {
  const [first] = cpus();
  return `${platform()} ${release()} ${arch()}, ${cpus().length} × ${first?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
}
