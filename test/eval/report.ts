import { type BenchRow, machine, reaches, tableOf, writeReport } from '../bench/report.ts';

/**
 * `seed`: of everything that is drawn by chance. `count`: null = as many as the bar asks for. `only`: what a row's condition must contain;
 * a bar then says nothing of what was left out.
 */
export type EvalOptions = { readonly seed: number; readonly count: number | null; readonly only: string | null };

/**
 * Prints the table of an evaluation and writes its file (VO-109).
 *
 * @param rows  `min … max` is a 95 % interval here, `runs` the number of clips, presses or answers.
 * @returns the exit code: 1 if a bar was missed.
 */
export function conclude(name: string, rows: readonly BenchRow[], options: EvalOptions): 0 | 1 {
  console.log(`\n${machine()}\nseed ${options.seed}; min … max is the 95 % interval\n\n${tableOf(rows)}\n`);
  console.log(writeReport(name, rows, 'eval', { ...options, interval: '95 %' }));
  return rows.some((row) => reaches(row.value, row.goal) === false) ? 1 : 0;
}
