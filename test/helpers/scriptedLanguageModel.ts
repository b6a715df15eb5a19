import type { LanguageModelV4CallOptions, LanguageModelV4Prompt, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { LanguageModel, ModelProgress } from '../../src/runtime/inference/languageModel.ts';
import { AppError } from '../../src/shared/errors/appError.ts';
import type { Clock } from '../../src/shared/util/clock.ts';
import { deferred } from '../../src/shared/util/deferred.ts';

/** A point of a script where the model waits until the test opens it. */
export type Gate = {
  /** Resolves when the model has come to the gate. */
  readonly reached: Promise<void>;
  open(): void;
  /** The model's side. */
  pass(): Promise<void>;
};

/** What the model does, in order. A script without an end of its own finishes with `stop`. */
export type ScriptStep =
  /** Said in word-sized pieces, as a real model does; `whole` says it in one piece. */
  | { readonly say: string; readonly whole?: boolean }
  | { readonly progress: ModelProgress }
  | { readonly gate: Gate }
  /** Only with a clock: sleeps by it before each further piece (a slow typist for screenshots and page tests). */
  | { readonly pieceMs: number }
  | { readonly fail: unknown }
  /** Stands still until it is aborted. */
  | { readonly stall: true }
  /** Says this again and again until it is aborted. */
  | { readonly endless: string }
  | { readonly finish: 'length' | 'context' };

export type Script = readonly ScriptStep[];
/** One script for all calls, or one per call; a list repeats its last entry. */
export type Scripts = Script | readonly Script[] | ((prompt: LanguageModelV4Prompt, call: number) => Script);

export type ScriptedModel = LanguageModel & {
  /** Every call so far, with what it was asked. */
  readonly calls: readonly LanguageModelV4CallOptions[];
  /** Replaces the scripts of later calls. */
  play(scripts: Scripts): void;
  /** Makes `ready` fail with this error until it is set to null. */
  failReady(error: AppError | null): void;
};

export function gate(): Gate {
  const reached = deferred<void>();
  const opened = deferred<void>();
  return {
    reached: reached.promise,
    open: () => opened.resolve(),
    pass: () => {
      reached.resolve();
      return opened.promise;
    },
  };
}

/** Word-sized pieces whose concatenation is `text`. */
export function pieces(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

/** As real models count, roughly: four UTF-16 units per token, at least one. */
export function scriptedTokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4));
}

/**
 * A language model that plays a script. It behaves like the local one: progress as `raw` parts, errors as an `error` part, and after an
 * abort the text so far followed by `finish` with raw reason `cancelled`.
 *
 * @param scripts  default: says "Hello! How can I help?".
 */
export function createScriptedModel(
  scripts: Scripts = [{ say: 'Hello! How can I help?' }],
  options: { clock?: Clock; modelId?: string; contextSize?: number; where?: 'here' | 'away' } = {},
): ScriptedModel {
  const contextSize = options.contextSize ?? 4096;
  const calls: LanguageModelV4CallOptions[] = [];
  let current = scripts;
  let readyError: AppError | null = null;

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => (options.clock === undefined ? resolve() : options.clock.setTimer(ms, resolve)));

  async function* parts(call: LanguageModelV4CallOptions, script: Script): AsyncGenerator<LanguageModelV4StreamPart> {
    const signal = call.abortSignal ?? new AbortController().signal;
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const promptTokens = promptTokensOf(call.prompt);
    let said = 0;
    let pieceMs = 0;
    const finish = (raw: string): LanguageModelV4StreamPart => ({
      type: 'finish',
      usage: usage(promptTokens, said),
      finishReason: { unified: raw === 'stop' ? 'stop' : raw === 'cancelled' ? 'other' : 'length', raw },
    });
    yield { type: 'stream-start', warnings: [] };
    yield { type: 'text-start', id: '0' };
    for (const step of script) {
      if (signal.aborted) break;
      if ('progress' in step) {
        if (call.includeRawChunks) yield { type: 'raw', rawValue: step.progress };
      } else if ('gate' in step) {
        await Promise.race([step.gate.pass(), aborted]);
      } else if ('pieceMs' in step) {
        pieceMs = step.pieceMs;
      } else if ('fail' in step) {
        yield { type: 'error', error: step.fail };
        return;
      } else if ('stall' in step) {
        await aborted;
      } else if ('finish' in step) {
        yield { type: 'text-end', id: '0' };
        yield finish(step.finish);
        return;
      } else {
        const endless = 'endless' in step;
        const list = endless ? [step.endless] : step.whole ? [step.say] : pieces(step.say);
        do {
          for (const delta of list) {
            if (pieceMs > 0) await Promise.race([sleep(pieceMs), aborted]);
            // A macrotask between pieces, as between real tokens: lets an endless script be cancelled.
            else await new Promise((resolve) => setImmediate(resolve));
            if (signal.aborted) break;
            said += 1;
            yield { type: 'text-delta', id: '0', delta };
          }
        } while (endless && !signal.aborted);
      }
    }
    yield { type: 'text-end', id: '0' };
    yield finish(signal.aborted ? 'cancelled' : 'stop');
  }

  const start = (call: LanguageModelV4CallOptions) => {
    const number = calls.length;
    calls.push(call);
    return parts(call, scriptOf(current, call.prompt, number));
  };

  return {
    specificationVersion: 'v4',
    provider: 'sotto-scripted',
    modelId: options.modelId ?? 'scripted',
    where: options.where ?? 'here',
    supportedUrls: {},
    calls,
    play(next) {
      current = next;
    },
    failReady(error) {
      readyError = error;
    },
    async ready({ signal }) {
      if (signal.aborted) throw new AppError('CANCELLED');
      if (readyError !== null) throw readyError;
      return { contextSize };
    },
    async countTokens(prompt) {
      return promptTokensOf(prompt);
    },
    async doStream(call) {
      const iterator = start(call);
      return {
        stream: new ReadableStream<LanguageModelV4StreamPart>({
          async pull(controller) {
            const next = await iterator.next();
            if (next.done) controller.close();
            else controller.enqueue(next.value);
          },
          async cancel() {
            await iterator.return(undefined);
          },
        }),
      };
    },
    async doGenerate(call) {
      let text = '';
      for await (const part of start(call)) {
        if (part.type === 'text-delta') text += part.delta;
        if (part.type === 'error') throw part.error;
        if (part.type === 'finish')
          return { content: [{ type: 'text', text }], finishReason: part.finishReason, usage: part.usage, warnings: [] };
      }
      throw new AppError('ENGINE_FAULT', { engineKey: 'scripted', stage: 'decode' });
    },
  };
}

function scriptOf(scripts: Scripts, prompt: LanguageModelV4Prompt, call: number): Script {
  if (typeof scripts === 'function') return scripts(prompt, call);
  if (isList(scripts)) return scripts[Math.min(call, scripts.length - 1)] ?? [];
  return scripts;
}

function isList(scripts: Script | readonly Script[]): scripts is readonly Script[] {
  return Array.isArray(scripts[0]);
}

function promptTokensOf(prompt: LanguageModelV4Prompt): number {
  let tokens = 0;
  for (const message of prompt) {
    if (typeof message.content === 'string') tokens += scriptedTokens(message.content);
    else for (const part of message.content) if (part.type === 'text') tokens += scriptedTokens(part.text);
  }
  return tokens;
}

function usage(prompt: number, output: number): LanguageModelV4Usage {
  return {
    inputTokens: { total: prompt, noCache: prompt, cacheRead: 0, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
    raw: { prefillMs: 1, decodeMs: output },
  };
}
