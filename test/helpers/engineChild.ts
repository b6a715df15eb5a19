import { type ChildProcess, fork, spawn } from 'node:child_process';
import { join } from 'node:path';
import { EngineReply } from '../../src/engine/contract/frames.ts';
import type { GenerateChunk } from '../../src/engine/contract/language.ts';
import { ChildFrame } from '../../src/shared/supervision/frames.ts';

type CallEnd = { readonly chunks: unknown[]; readonly data?: unknown; readonly error?: { code: string; data: Record<string, unknown> } };

/** A forked engine, spoken to by hand: frames out, replies in, without supervisor or runtime. */
export type EngineChild = {
  readonly process: ChildProcess;
  /** Every frame so far, oldest first. */
  readonly frames: ChildFrame[];
  /** Answers when the call ended; `gone` when the process did before. */
  call(
    method: string,
    params: unknown,
    onChunk?: (chunk: unknown) => void,
  ): Promise<CallEnd & { readonly id: number; readonly gone: boolean }>;
  cancelLast(): void;
  post(frame: unknown): void;
  until(accept: (frame: ChildFrame) => boolean): Promise<ChildFrame>;
  readonly exit: Promise<{ code: number | null; signal: string | null }>;
  /** SIGKILL if it still lives. */
  [Symbol.asyncDispose](): Promise<void>;
};

export const GENERATION = 7;
const entry = join(import.meta.dirname, '../../src/engine/entry/main.ts');

/** @param wrap  a program and its arguments to run the child under (strace). */
export function startEngine(
  env: Readonly<Record<string, string>> = {},
  options: { key?: string; entry?: string; greet?: boolean; wrap?: readonly string[] } = {},
): EngineChild {
  const args = [options.entry ?? entry, options.key ?? 'language'];
  const settings = {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'] as ('ignore' | 'inherit' | 'ipc')[],
    serialization: 'advanced' as const,
  };
  const [program, ...before] = options.wrap ?? [];
  const child =
    program === undefined
      ? fork(args[0] ?? '', args.slice(1), { ...settings, execArgv: [] })
      : spawn(program, [...before, process.execPath, ...args], settings);
  const frames: ChildFrame[] = [];
  const watchers = new Set<(frame: ChildFrame) => void>();
  const calls = new Map<
    number,
    { chunks: unknown[]; onChunk: ((chunk: unknown) => void) | undefined; end: (end: CallEnd, gone: boolean) => void }
  >();
  let lastId = 0;
  child.on('message', (message: unknown) => {
    const frame = ChildFrame.parse(message);
    frames.push(frame);
    for (const watcher of [...watchers]) watcher(frame);
    if (frame.k !== 'app') return;
    const reply = EngineReply.parse(frame.body);
    if (reply.t === 'log') return;
    const call = calls.get(reply.id);
    if (reply.t === 'chunk') {
      call?.chunks.push(reply.data);
      call?.onChunk?.(reply.data);
      return;
    }
    calls.delete(reply.id);
    const chunks = call?.chunks ?? [];
    call?.end(
      reply.t === 'result' ? { chunks, data: reply.data } : { chunks, error: { code: reply.error.code, data: reply.error.data } },
      false,
    );
  });
  const exit = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on('exit', (code, signal) => {
      for (const call of calls.values()) call.end({ chunks: call.chunks }, true);
      resolve({ code, signal });
    });
  });
  const post = (frame: unknown) => void (child.connected && child.send(frame as object, () => undefined));
  if (options.greet !== false) post({ k: 'hello', generation: GENERATION });
  return {
    process: child,
    frames,
    exit,
    post,
    call(method, params, onChunk) {
      const id = ++lastId;
      return new Promise((resolve) => {
        calls.set(id, { chunks: [], onChunk, end: (end, gone) => resolve({ ...end, id, gone }) });
        post({ k: 'app', generation: GENERATION, body: { t: 'call', id, method, params } });
      });
    },
    cancelLast: () => post({ k: 'app', generation: GENERATION, body: { t: 'cancel', id: lastId } }),
    until(accept) {
      const seen = frames.find(accept);
      if (seen !== undefined) return Promise.resolve(seen);
      return new Promise((resolve) => {
        const watcher = (frame: ChildFrame) => {
          if (!accept(frame)) return;
          watchers.delete(watcher);
          resolve(frame);
        };
        watchers.add(watcher);
      });
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exit;
    },
  };
}

/** The text of a reply's chunks. */
export function textOf(chunks: readonly unknown[]): string {
  return (chunks as GenerateChunk[]).map((chunk) => (chunk.kind === 'text' ? chunk.text : '')).join('');
}

export const loadParams = (path: string) => ({ path, contextSize: 2048, threads: 1 });

/** Greedy, the system message that the models facts recommend, ≤ 24 tokens. */
export const greedy = {
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  repeatPenalty: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  penaltyLastN: 0,
  seed: 1,
} as const;

export const ask = (text: string, more: Readonly<Record<string, unknown>> = {}) => ({
  messages: [{ role: 'user', content: text }],
  sampling: greedy,
  maxTokens: 24,
  ...more,
});
