// `npm run eval -- NAME [--count N] [--seed N] [--only CONDITION]`: runs one evaluation, prints its table and writes out/eval/NAME.json. Exit 1 below a bar.
import { parseArgs } from 'node:util';
import type { BenchRow } from '../bench/report.ts';
import { conclude, type EvalOptions } from './report.ts';

type Evaluation = { evaluate(options: EvalOptions): Promise<BenchRow[]> };

const evaluations: Readonly<Record<string, () => Promise<Evaluation>>> = {
  asr: () => import('./asr.ts'),
  'speech-text': () => import('./speechText.ts'),
  'talk-key': () => import('./talkKey.ts'),
};
const [name = '', ...rest] = process.argv.slice(2);
const load = evaluations[name];
if (load === undefined) {
  console.error(`npm run eval -- ${Object.keys(evaluations).join(' | ')} [--count N] [--seed N] [--only CONDITION]`);
  process.exit(64);
}
const { values } = parseArgs({ args: rest, options: { seed: { type: 'string' }, count: { type: 'string' }, only: { type: 'string' } } });
const numberOf = (text: string | undefined) => (text === undefined ? null : Number(text));
const seed = numberOf(values.seed) ?? 20_260;
const count = numberOf(values.count);
const only = values.only ?? null;
const rows = await (await load()).evaluate({ seed, count, only });
process.exitCode = conclude(name, rows, { seed, count, only });
