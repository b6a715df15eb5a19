import { loadavg } from 'node:os';
import { Sampling } from '../../src/engine/contract/language.ts';
import { testModel } from '../helpers/testModel.ts';
import { betweenTokens, decodeSpeed, mainThreadNs, type OurEngine, ourEngine, prefillSpeed } from './llm/ours.ts';
import { llamaBench, nodeLlamaCpp, type Speed } from './llm/peers.ts';
import { type BenchRow, medianOf } from './report.ts';

const OUTPUT = 128;
/** The starter model answers this beyond the tokens that are measured. */
const longReply = 'Write a long essay about the history of the sea.';

const words = (from: number, count: number) => Array.from({ length: count }, (_, i) => `word${from + i}`).join(' ');

/** A text whose prompt has about `tokens` tokens and begins differently each time, so that nothing of it is in the KV memory. */
async function promptOf(engine: OurEngine, tokens: number, unique: number, tail = ''): Promise<string> {
  let count = Math.floor(tokens / 4);
  let text = '';
  for (let tries = 0; tries < 6; tries += 1) {
    text = `${unique} ${words(0, count)} ${tail}`;
    const have = await engine.count(text);
    if (Math.abs(have - tokens) <= 4) break;
    count = Math.max(1, Math.round(count * (tokens / have)));
  }
  return text;
}

/**
 * `npm run bench -- llm [--rounds N] [--threads T]`: our engine against llama-bench and node-llama-cpp over the same library files, in
 * alternating rounds of one run (recipes R0, R4, R5). Each figure is the median of the rounds' ratios.
 */
export async function bench(options: readonly string[]): Promise<BenchRow[]> {
  const option = (name: string, otherwise: number) => {
    const at = options.indexOf(`--${name}`);
    return at < 0 ? otherwise : Number(options[at + 1]);
  };
  const rounds = option('rounds', 5);
  const threads = option('threads', 1);
  const model = testModel();
  using peer = llamaBench(model);
  const binding = nodeLlamaCpp(model);
  // KV memory of the peer's size (depth and output, rounded up to 256): its rows lie as far apart as its cells are many, and that costs.
  await using engine = await ourEngine(model, threads, 2304);
  await using small = await ourEngine(model, threads, 256);
  const found: Record<string, number[]> = {};
  const note = (key: string, value: number) => (found[key] ??= []).push(value);

  for (let round = 0; round < rounds; round += 1) {
    const unique = 1000 + round * 7;
    const deepText = await promptOf(engine, 2048, unique, longReply);
    const prefillTexts = [await promptOf(engine, 512, unique + 1), await promptOf(engine, 512, unique + 2)];
    const { promptTokens: shallowDepth } = await small.reply(longReply, 1);
    // The peers give the better of two samples (recipe R4), and the CPU time of both. Ours stand before and after: a machine that slows
    // down is then on nobody's side.
    const pair = async (key: string, ours: (sample: number) => Promise<Speed>, theirs: () => Promise<Speed>): Promise<Speed> => {
      const before = await ours(0);
      const other = await theirs();
      const after = await ours(1);
      const perSecond = Math.max(before.perSecond, after.perSecond);
      const perCpuSecond = 2 / (1 / before.perCpuSecond + 1 / after.perCpuSecond);
      note(key, perSecond / other.perSecond);
      note(`${key} cpu`, perCpuSecond / other.perCpuSecond);
      return { perSecond, perCpuSecond };
    };
    const shallow = (by: OurEngine) => async () => decodeSpeed(await by.reply(longReply, OUTPUT), OUTPUT / 2);
    const speed = await pair('P1 0', shallow(small), () => peer.run({ output: OUTPUT, depth: shallowDepth, threads }));
    note('t/s', speed.perSecond);
    await pair('P3', shallow(engine), () => binding.decode({ prompt: longReply, output: OUTPUT, threads }));
    await pair(
      'P1 2048',
      async () => decodeSpeed(await engine.reply(deepText, OUTPUT), OUTPUT / 4),
      () => peer.run({ output: OUTPUT, depth: 2048, threads }),
    );
    await pair(
      'P2',
      async (sample) => prefillSpeed(await engine.reply(prefillTexts[sample] ?? '', 1)),
      () => peer.run({ prompt: 512, threads }),
    );

    for (const size of [256, 2048]) {
      const text = await promptOf(engine, size - 16, unique + size);
      const cold = await engine.reply(`${text} and what is the first word of all these?`, 1);
      const warm = await engine.reply(`${text} or rather, is there a colour among them?`, 1);
      if (warm.promptTokens - warm.reusedTokens > 40) throw new Error('the prefix was not reused: the figure would mean nothing');
      note(`P6 ${size}`, cold.firstTextMs / warm.firstTextMs);
    }

    note('P13 decode', await cancelInDecode(engine));
    note('P13 prefill', await cancelInPrefill(engine, await promptOf(engine, 1500, unique + 3)));

    // What the first thread of the engine does per token: the difference leaves out what it does once per call.
    const relayed = async (tokens: number) => {
      const before = mainThreadNs(engine.child.process.pid ?? 0);
      const reply = await engine.reply(longReply, tokens);
      return { us: (mainThreadNs(engine.child.process.pid ?? 0) - before) / 1000, tokens: reply.outputTokens };
    };
    const once = await relayed(1);
    const many = await relayed(OUTPUT);
    const relayUs = (many.us - once.us) / (many.tokens - once.tokens);
    const between = await betweenTokens(model, threads, longReply, OUTPUT, Sampling.parse({ seed: 1 }));
    note('P4', (between.between + relayUs) / between.bare);
    console.error(
      `round ${round + 1}/${rounds}: load ${loadavg()[0]?.toFixed(1)} · ours ${speed.perSecond.toFixed(1)} t/s · between tokens ${between.between.toFixed(0)} + ${relayUs.toFixed(0)} µs of ${between.bare.toFixed(0)}`,
    );
  }

  console.log(
    `CPU library chosen: ${engine.info.cpuVariant} by our engine, ${peer.cpuVariant()} by llama-bench; ${threads} thread(s), flash attention off, KV f16`,
  );
  const row = (
    id: string,
    key: string,
    what: string,
    against: string,
    goal: string,
    better: 'higher' | 'lower',
    unit = 'ratio',
  ): BenchRow => {
    const values = found[key] ?? [];
    return {
      id,
      what,
      value: medianOf(values),
      unit,
      against,
      goal,
      better,
      runs: values.length,
      min: Math.min(...values),
      max: Math.max(...values),
    };
  };
  // The second figure is not disturbed by what else the machine does; with several threads it would count their waiting as work.
  const twice = (id: string, key: string, what: string, against: string, goal: string): BenchRow[] => [
    row(id, key, what, against, goal, 'higher'),
    ...(threads === 1 ? [row(`${id} cpu`, `${key} cpu`, `${what}, per CPU second`, against, goal, 'higher')] : []),
  ];
  const same = `llama-bench, same library files (${peer.cpuVariant()}), ${threads} thread(s)`;
  const node = `node-llama-cpp 3.21.1, same folder, ${threads} thread(s)`;
  const p3 = threads === 1 ? '≥ 0.98' : '≥ 1.2';
  return [
    ...twice('P1 depth 0', 'P1 0', 'decode through the engine', same, '≥ 0.95'),
    ...twice('P1 depth 2048', 'P1 2048', 'decode through the engine', same, '≥ 0.95'),
    ...twice('P2', 'P2', 'prefill of 512 tokens in chunks of 128', same, '≥ 0.93'),
    ...twice('P3', 'P3', 'decode through the engine', node, p3),
    row('P4', 'P4', 'CPU between two tokens, default sampling', 'one bare token', '≤ 0.03', 'lower'),
    row('P6 256', 'P6 256', 'cold ÷ warm time to first token', 'the same prompt, cold', '≥ 6', 'higher'),
    row('P6 2048', 'P6 2048', 'cold ÷ warm time to first token', 'the same prompt, cold', '≥ 15', 'higher'),
    row('P13 decode', 'P13 decode', 'cancel until the engine is idle', 'one token', '≤ 2', 'lower'),
    row('P13 prefill', 'P13 prefill', 'cancel until the engine is idle', 'one chunk of 128', '≤ 2', 'lower'),
    row('decode', 't/s', 'decode through the engine, for the record', '', '', 'higher', 't/s'),
  ];
}

/** How often a cancel is timed in a round; its place within a token is left to chance. */
const CANCELS = 5;

async function cancelInDecode(engine: OurEngine): Promise<number> {
  const ratios: number[] = [];
  for (let i = 0; i < CANCELS; i += 1) {
    let seen = 0;
    let firstMs = 0;
    let sentMs = 0;
    let atSend = 0;
    const reply = await engine.reply(longReply, OUTPUT, (chunk) => {
      if (chunk.kind !== 'text') return;
      if (seen === 0) firstMs = performance.now();
      seen += chunk.tokens;
      if (seen < 10 + i || sentMs > 0) return;
      sentMs = performance.now();
      atSend = seen;
      engine.child.cancelLast();
    });
    if (reply.stopReason !== 'cancelled') throw new Error('the reply ended before it could be cancelled');
    // One token as it was in this very reply, so that a busy machine is busy on both sides.
    const tokenMs = (sentMs - firstMs) / (atSend - 1);
    ratios.push((performance.now() - sentMs) / tokenMs);
  }
  return medianOf(ratios);
}

async function cancelInPrefill(engine: OurEngine, text: string): Promise<number> {
  const whole = await engine.reply(`${text} one`, 1);
  const chunkMs = (whole.prefillMs / (whole.promptTokens - whole.reusedTokens)) * 128;
  const ratios: number[] = [];
  for (let i = 0; i < CANCELS; i += 1) {
    let sentMs = 0;
    const reply = await engine.reply(`${i} again ${text}`, 1, (chunk) => {
      if (chunk.kind !== 'prefill' || chunk.done === chunk.reused || sentMs > 0) return;
      sentMs = performance.now();
      engine.child.cancelLast();
    });
    if (reply.stopReason !== 'cancelled') throw new Error('the prompt was read before it could be cancelled');
    ratios.push((performance.now() - sentMs) / chunkMs);
  }
  return medianOf(ratios);
}
