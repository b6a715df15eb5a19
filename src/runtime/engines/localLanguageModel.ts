import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4Warning,
} from '@ai-sdk/provider';
import {
  type ChatMessage,
  CountParams,
  engineLimits,
  type GenerateChunk,
  GenerateParams,
  type GenerateResult,
} from '../../engine/contract/language.ts';
import type { ModelSampling } from '../../shared/domain/models.ts';
import { AppError, toAppError } from '../../shared/errors/appError.ts';
import type { LanguageModel, ModelProgress } from '../inference/languageModel.ts';
import type { Deadline, EngineClient } from './engineClient.ts';
import type { LanguageEngine } from './languageEngine.ts';
import { type InstalledLanguage, languageLimits } from './ports.ts';
import type { Turnstile } from './turnstile.ts';

/**
 * The model on this machine as a provider like any other. A call waits for its turn (one in flight per engine, at most eight wait), loads
 * the model if needed, and streams. In a stream every failure is an `error` part that ends it; an abort ends it with `finish`, raw reason
 * `cancelled`, after the text so far. `usage.raw` holds `prefillMs` and `decodeMs`.
 */
export function createLocalLanguageModel(deps: {
  model: InstalledLanguage;
  client: EngineClient;
  engine: LanguageEngine;
  turnstile: Turnstile;
}): LanguageModel {
  const { model, client, engine, turnstile } = deps;

  async function generate(
    options: LanguageModelV4CallOptions,
    params: GenerateParams,
    onProgress: (progress: ModelProgress) => void,
    onText: (text: string) => void,
  ): Promise<GenerateResult> {
    const signal = options.abortSignal ?? new AbortController().signal;
    const leave = await turnstile.enter(signal);
    try {
      await engine.load(model, { signal, onProgress: (fraction) => onProgress({ kind: 'loading', fraction }) });
      const result = await client.call('generate', params, {
        signal,
        deadline: prefillDeadline,
        afterChunk: (chunk: GenerateChunk) => (chunk.kind === 'prefill' && chunk.done < chunk.total ? prefillDeadline : decodeDeadline),
        onChunk: (chunk: GenerateChunk) => {
          if (chunk.kind === 'text') onText(chunk.text);
          else onProgress({ kind: 'prefill', done: chunk.done, total: chunk.total, reused: chunk.reused });
        },
      });
      engine.succeeded(model);
      return result;
    } catch (error) {
      engine.failed(model, error);
      throw error;
    } finally {
      leave();
    }
  }

  return {
    specificationVersion: 'v4',
    provider: 'sotto-local',
    modelId: model.modelId,
    where: 'here',
    supportedUrls: {},

    async ready({ signal, onProgress }) {
      const info = await engine.load(model, { signal, onProgress: (fraction) => onProgress({ kind: 'loading', fraction }) });
      return { contextSize: info.contextSize };
    },

    async countTokens(prompt, { signal }) {
      const params = parse(CountParams, { messages: chatMessages(prompt) });
      const leave = await turnstile.enter(signal);
      try {
        await engine.load(model, { signal, onProgress: () => {} });
        const { tokens } = await client.call('count', params, { signal, deadline: { stage: 'count', ms: languageLimits.otherCallMs } });
        return tokens;
      } catch (error) {
        engine.failed(model, error);
        throw error;
      } finally {
        leave();
      }
    },

    async doStream(options) {
      const params = generateParams(options, model.sampling);
      // A reader that goes away stops the model, whoever else holds the signal.
      const reader = new AbortController();
      const abortSignal = options.abortSignal === undefined ? reader.signal : AbortSignal.any([options.abortSignal, reader.signal]);
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        async start(controller) {
          let open = true;
          const put = (part: LanguageModelV4StreamPart) => {
            if (open && !reader.signal.aborted) controller.enqueue(part);
          };
          put({ type: 'stream-start', warnings: warningsOf(options) });
          let spoke = false;
          const run = async () => {
            try {
              const result = await generate(
                { ...options, abortSignal },
                params,
                (progress) => {
                  if (options.includeRawChunks === true) put({ type: 'raw', rawValue: progress });
                },
                (delta) => {
                  if (!spoke) put({ type: 'text-start', id: '0' });
                  spoke = true;
                  put({ type: 'text-delta', id: '0', delta });
                },
              );
              if (spoke) put({ type: 'text-end', id: '0' });
              put({ type: 'finish', usage: usageOf(result), finishReason: finishReasonOf(result) });
            } catch (error) {
              put({ type: 'error', error: toAppError(error) });
            }
            open = false;
            if (!reader.signal.aborted) controller.close();
          };
          // `start` must return for the parts to flow while the model runs; `run` never rejects.
          void run();
        },
        cancel() {
          reader.abort();
        },
      });
      return { stream };
    },

    async doGenerate(options): Promise<LanguageModelV4GenerateResult> {
      let text = '';
      const result = await generate(
        options,
        generateParams(options, model.sampling),
        () => {},
        (delta) => {
          text += delta;
        },
      );
      return {
        content: text === '' ? [] : [{ type: 'text', text }],
        finishReason: finishReasonOf(result),
        usage: usageOf(result),
        warnings: warningsOf(options),
      };
    },
  };
}

const prefillDeadline: Deadline = { stage: 'prefill', ms: engineLimits.prefillSilenceMs };
const decodeDeadline: Deadline = { stage: 'decode', ms: engineLimits.decodeStepMs };

/** Messages as the chat template takes them: text only. */
export function chatMessages(prompt: LanguageModelV4Prompt): ChatMessage[] {
  return prompt.map((message): ChatMessage => {
    if (message.role === 'system') return { role: 'system', content: message.content };
    if (message.role === 'tool') throw new AppError('UNSUPPORTED', { what: 'tool results' });
    let content = '';
    for (const part of message.content) {
      // Thoughts of an earlier answer are not shown to the model again.
      if (part.type === 'reasoning') continue;
      if (part.type !== 'text') throw new AppError('UNSUPPORTED', { what: `${part.type} parts` });
      content += part.text;
    }
    return { role: message.role, content };
  });
}

/** The caller's wish first, then what the catalogue says of the model, then the defaults of its class (RT-03, in the engine contract). */
export function generateParams(options: LanguageModelV4CallOptions, own: ModelSampling | null): GenerateParams {
  return parse(GenerateParams, {
    messages: chatMessages(options.prompt),
    sampling: {
      temperature: options.temperature ?? own?.temperature,
      topP: options.topP ?? own?.topP,
      topK: options.topK,
      frequencyPenalty: options.frequencyPenalty,
      presencePenalty: options.presencePenalty,
      seed: options.seed,
    },
    stop: options.stopSequences,
    maxTokens: options.maxOutputTokens ?? languageLimits.maxNewTokens,
  });
}

/** ABI-08: a value out of range is refused before the native call. */
function parse<T>(
  schema: { safeParse(input: unknown): { success: true; data: T } | { success: false; error: { issues: { path: PropertyKey[] }[] } } },
  input: unknown,
): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw new AppError('INVALID_INPUT', { field: result.error.issues[0]?.path.join('.') ?? '', reason: 'range' });
}

function warningsOf(options: LanguageModelV4CallOptions): SharedV4Warning[] {
  const warnings: SharedV4Warning[] = [];
  if (options.tools !== undefined && options.tools.length > 0) warnings.push({ type: 'unsupported', feature: 'tools' });
  if (options.responseFormat?.type === 'json') warnings.push({ type: 'unsupported', feature: 'responseFormat' });
  return warnings;
}

function finishReasonOf({ stopReason }: GenerateResult): LanguageModelV4FinishReason {
  switch (stopReason) {
    case 'end':
    case 'stop':
      return { unified: 'stop', raw: stopReason };
    case 'length':
    case 'context':
      return { unified: 'length', raw: stopReason };
    case 'cancelled':
      return { unified: 'other', raw: stopReason };
  }
}

function usageOf(result: GenerateResult): LanguageModelV4Usage {
  return {
    inputTokens: {
      total: result.promptTokens,
      noCache: result.promptTokens - result.reusedTokens,
      cacheRead: result.reusedTokens,
      cacheWrite: undefined,
    },
    outputTokens: { total: result.outputTokens, text: result.outputTokens, reasoning: undefined },
    raw: { prefillMs: result.prefillMs, decodeMs: result.decodeMs },
  };
}
