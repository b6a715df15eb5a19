// `npm run bench -- NAME [options]`: runs `test/bench/NAME.ts`, prints its table and writes out/bench/NAME.json.
import { readdirSync } from 'node:fs';
import { type BenchRow, machine, reaches, tableOf, writeReport } from './report.ts';

type Bench = { readonly bench: (options: readonly string[]) => Promise<BenchRow[]> };

const isBench = (module: unknown): module is Bench =>
  typeof module === 'object' && module !== null && 'bench' in module && typeof module.bench === 'function';

const names = readdirSync(import.meta.dirname)
  .filter((file) => /^[a-z]+\.ts$/i.test(file) && file !== 'run.ts' && file !== 'report.ts')
  .map((file) => file.slice(0, -'.ts'.length));
const [name, ...options] = process.argv.slice(2);
if (name === undefined || !names.includes(name)) {
  console.error(`npm run bench -- ${names.join(' | ')}`);
  process.exit(64);
}
const module: unknown = await import(`./${name}.ts`);
if (!isBench(module)) throw new Error(`test/bench/${name}.ts exports no bench()`);
const rows = await module.bench(options);
console.log(`\n${machine()}\n\n${tableOf(rows)}\n\n${writeReport(name, rows)}`);
// A goal is a goal: a miss is told by the table, and by the exit for whoever asks for it.
if (options.includes('--strict')) process.exitCode = rows.some((row) => reaches(row.value, row.goal) === false) ? 1 : 0;
