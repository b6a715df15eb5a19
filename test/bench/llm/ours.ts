import { readdirSync, readFileSync } from 'node:fs';
import { MessageChannel } from 'node:worker_threads';
import { loadLlama } from '../../../native/llama/library.ts';
import type { GenerateChunk, GenerateResult, LoadedInfo, Sampling } from '../../../src/engine/contract/language.ts';
import { createLanguageSession } from '../../../src/engine/workers/languageSession.ts';
import { ask, type EngineChild, startEngine } from '../../helpers/engineChild.ts';
import { medianOf } from '../report.ts';
import type { Speed } from './peers.ts';

/** `decodeCpuMs`, `prefillCpuMs`: CPU time of all threads of the engine from the first token on, and until it. */
export type Reply = GenerateResult & {
  readonly firstTextMs: number;
  readonly decodeCpuMs: number;
  readonly prefillCpuMs: number;
};

/** Our engine as the runtime uses it: a forked child, its worker thread, one message per step to this process. */
export type OurEngine = {
  readonly info: LoadedInfo;
  readonly child: EngineChild;
  reply(user: string, maxTokens: number, onChunk?: (chunk: GenerateChunk) => void): Promise<Reply>;
  count(user: string): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
};

export async function ourEngine(model: string, threads: number, contextSize: number): Promise<OurEngine> {
  const child = startEngine();
  const loaded = await child.call('load', { path: model, contextSize, threads });
  if (loaded.error !== undefined) throw new Error(`load: ${loaded.error.code}`);
  return {
    info: loaded.data as LoadedInfo,
    child,
    async reply(user, maxTokens, onChunk) {
      const pid = child.process.pid ?? 0;
      const startMs = performance.now();
      const startCpu = cpuMs(pid);
      let firstTextMs = 0;
      let firstTextCpu = 0;
      const end = await child.call('generate', ask(user, { maxTokens }), (chunk) => {
        const known = chunk as GenerateChunk;
        if (known.kind === 'text' && firstTextMs === 0) {
          firstTextMs = performance.now() - startMs;
          firstTextCpu = cpuMs(pid);
        }
        onChunk?.(known);
      });
      if (end.data === undefined) throw new Error(`generate: ${end.error?.code ?? 'gone'}`);
      return {
        ...(end.data as GenerateResult),
        firstTextMs,
        decodeCpuMs: cpuMs(pid) - firstTextCpu,
        prefillCpuMs: firstTextCpu - startCpu,
      };
    },
    async count(user) {
      const { data } = await child.call('count', { messages: [{ role: 'user', content: user }] });
      return (data as { tokens: number }).tokens;
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/** Decode speed of a reply: the first token comes out of the prefill, the last is not evaluated. */
export function decodeSpeed(reply: Reply, least: number): Speed {
  if (reply.outputTokens < least) throw new Error(`the reply ended after ${reply.outputTokens} tokens: the figure would mean nothing`);
  const tokens = (reply.outputTokens - 1) * 1000;
  return { perSecond: tokens / reply.decodeMs, perCpuSecond: tokens / reply.decodeCpuMs };
}

export function prefillSpeed(reply: Reply): Speed {
  const tokens = (reply.promptTokens - reply.reusedTokens) * 1000;
  return { perSecond: tokens / reply.prefillMs, perCpuSecond: tokens / reply.prefillCpuMs };
}

/** CPU time of all threads of a process (Linux). */
export function cpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return (
    threads.reduce((sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]), 0) / 1e6
  );
}

/** CPU nanoseconds that the first thread of a process has used (Linux). It is the engine's relay; the model runs in another. */
export function mainThreadNs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]);
}

/**
 * What happens between two evaluations in the thread that decodes: sampler, detokeniser, joiner, matcher, and the message to another
 * thread. The kernel accounts CPU time of a running thread by its ticks, far coarser than this; so it is the median of wall times, which
 * are too short to be interrupted often, against the CPU time of the evaluations, which are long.
 *
 * @returns microseconds per token of each.
 */
export async function betweenTokens(
  model: string,
  threads: number,
  user: string,
  maxTokens: number,
  sampling: Sampling,
): Promise<{ between: number; bare: number }> {
  const gaps: number[] = [];
  const posts: number[] = [];
  let evaluationCpu = 0;
  let endMs = 0;
  let postedMs = 0;
  const cpu = () => {
    const { user: own, system } = process.threadCpuUsage();
    return own + system;
  };
  const session = createLanguageSession(async () => {
    const llama = await loadLlama();
    return {
      ...llama,
      loadModel: async (options) => {
        const real = await llama.loadModel(options);
        return {
          ...real,
          createContext: async (settings) => {
            const context = await real.createContext(settings);
            return {
              ...context,
              get used() {
                return context.used;
              },
              decode(tokens, shouldAbort) {
                if (shouldAbort !== undefined) return context.decode(tokens, shouldAbort);
                if (endMs > 0) gaps.push(performance.now() - endMs - postedMs);
                const start = cpu();
                const outcome = context.decode(tokens);
                evaluationCpu += cpu() - start;
                postedMs = 0;
                endMs = performance.now();
                return outcome;
              },
            };
          },
        };
      },
    };
  });
  const { port1, port2 } = new MessageChannel();
  const control = { isCancelled: () => false, nowMs: () => performance.now() };
  await session.load(
    { path: model, contextSize: 2048, threads, microBatch: 512, prefillChunk: 128, loadMode: 'auto', flashAttention: false },
    () => undefined,
    control,
  );
  await session.generate(
    { messages: [{ role: 'user', content: user }], sampling, stop: ['never\u0000'], maxTokens },
    (data) => {
      const startMs = performance.now();
      port1.postMessage({ t: 'chunk', id: 1, data });
      postedMs += performance.now() - startMs;
      if (data.kind === 'text') posts.push(performance.now() - startMs);
    },
    control,
  );
  port1.close();
  port2.close();
  await session.close();
  const evaluations = gaps.length + 1;
  const perToken = medianOf(gaps) + (medianOf(posts) * posts.length) / evaluations;
  return { between: perToken * 1000, bare: evaluationCpu / evaluations };
}
