import { randomInt } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { z } from 'zod';
import { type Llama, loadLlama } from '../../../native/llama/library.ts';
import type { LlamaContext, LlamaModel } from '../../../native/llama/modelType.ts';
import { AppError } from '../../shared/errors/appError.ts';
import { promptTokens } from '../chat/promptTokens.ts';
import { type ChatRenderer, createPlainRenderer, createTemplateRenderer } from '../chat/render.ts';
import { createChatTemplate } from '../chat/template.ts';
import {
  type ChatMessage,
  engineLimits,
  type GenerateChunk,
  type GenerateParams,
  type GenerateResult,
  type LoadChunk,
  type LoadedInfo,
  type LoadParams,
  type languageMethods,
} from '../contract/language.ts';
import { createGeneration } from './generation.ts';
import { chooseLoadMode } from './loadMode.ts';
import { type JobControl, prefill } from './prefill.ts';
import { createSequence, type Sequence } from './sequence.ts';

type ResultOf<M extends keyof typeof languageMethods> = z.infer<(typeof languageMethods)[M]['result']>;

type Loaded = {
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  readonly sequence: Sequence;
  readonly renderer: ChatRenderer;
  readonly prefillChunk: number;
};

/** The methods of the language contract over one model at a time. One call runs at a time; its owner sees to that. */
export type LanguageSession = {
  abi(): Promise<ResultOf<'abi'>>;
  /** Replaces what was loaded before. Fractions rise to 1. */
  load(params: LoadParams, emit: (chunk: LoadChunk) => void, control: JobControl): Promise<LoadedInfo>;
  unload(): Promise<ResultOf<'unload'>>;
  count(params: { messages: readonly ChatMessage[] }): ResultOf<'count'>;
  generate(params: GenerateParams, emit: (chunk: GenerateChunk) => void, control: JobControl): Promise<GenerateResult>;
  trial(params: { path: string; threads: number }, emit: (chunk: LoadChunk) => void, control: JobControl): Promise<ResultOf<'trial'>>;
  /** Unloads and lets go of the library's callbacks; nothing works afterwards. */
  close(): Promise<void>;
};

const LOAD_REPORT_MS = 100;
const TRIAL_TOKENS = 8;

/** @param openLibrary  finds, checks and loads the library; called at the first method that needs it. */
export function createLanguageSession(openLibrary: () => Promise<Llama> = () => loadLlama()): LanguageSession {
  let library: Llama | null = null;
  let loaded: Loaded | null = null;

  async function llama(): Promise<Llama> {
    library ??= await openLibrary();
    return library;
  }

  function current(): Loaded {
    if (loaded === null) throw new AppError('INVALID_INPUT', { field: 'method', reason: 'no model is loaded' });
    return loaded;
  }

  async function unload(): Promise<void> {
    const old = loaded;
    loaded = null;
    await old?.model.dispose();
  }

  async function load(params: LoadParams, emit: (chunk: LoadChunk) => void, control: JobControl): Promise<LoadedInfo> {
    const startMs = control.nowMs();
    await unload();
    const native = await llama();
    const fileBytes = await checkFile(params.path);
    const loadMode = params.loadMode === 'auto' ? await chooseLoadMode(params.path) : params.loadMode;
    const report = throttled(emit, control);
    const model = await native.loadModel({
      path: params.path,
      loadMode,
      onProgress: (fraction) => report(fraction),
      isCancelled: () => control.isCancelled(),
    });
    try {
      if (control.isCancelled()) throw new AppError('CANCELLED');
      const renderer = rendererOf(model);
      const context = await model.createContext({
        // Beyond the trained length the library only warns, and the text falls apart.
        contextSize: model.trainedContext > 0 ? Math.min(params.contextSize, model.trainedContext) : params.contextSize,
        batchSize: params.prefillChunk,
        microBatch: params.microBatch,
        threads: params.threads,
        flashAttention: params.flashAttention,
      });
      if (control.isCancelled()) throw new AppError('CANCELLED');
      loaded = { model, context, sequence: createSequence(context), renderer, prefillChunk: params.prefillChunk };
      emit({ fraction: 1 });
      return {
        description: model.description,
        architecture: model.architecture,
        contextSize: context.size,
        trainedContext: model.trainedContext,
        vocabularySize: model.vocabularySize,
        fileBytes,
        parameters: model.parameters,
        hasTemplate: model.chatTemplate !== null,
        systemRole: renderer.systemRole,
        libraryVersion: native.version,
        cpuVariant: native.cpuVariant,
        capabilities: { ...native.capabilities },
        loadMs: control.nowMs() - startMs,
      };
    } catch (error) {
      await model.dispose();
      throw error;
    }
  }

  function tokensOf(state: Loaded, messages: readonly ChatMessage[]): Int32Array {
    return promptTokens(state.model, state.renderer.render(messages));
  }

  async function generate(params: GenerateParams, emit: (chunk: GenerateChunk) => void, control: JobControl): Promise<GenerateResult> {
    const state = current();
    const { model, context, sequence, renderer } = state;
    const prompt = tokensOf(state, params.messages);
    const { seed, ...sampling } = params.sampling;
    const sampler = model.createSampler({ ...sampling, seed: seed ?? randomInt(0, 0xffff_ffff) });
    try {
      const startMs = control.nowMs();
      const { reused, cancelled } = prefill(sequence, prompt, context.size, state.prefillChunk, control, (progress) =>
        emit({ kind: 'prefill', ...progress }),
      );
      const decodeMs = control.nowMs();
      const result = { promptTokens: prompt.length, reusedTokens: reused, prefillMs: decodeMs - startMs };
      if (cancelled) return { ...result, stopReason: 'cancelled', outputTokens: 0, decodeMs: 0 };
      const stops = [...params.stop, ...renderer.stops];
      const generation = createGeneration({ model, context, sequence, sampler, stops, maxTokens: params.maxTokens, control });
      const limits = { maxTokens: engineLimits.stepTokens, maxBytes: engineLimits.stepBytes, maxMs: engineLimits.stepMs };
      for (;;) {
        const step = generation.next(limits);
        if (step.tokens > 0 || step.text !== '') emit({ kind: 'text', tokens: step.tokens, text: step.text });
        if (step.stopReason === undefined) continue;
        return {
          ...result,
          stopReason: step.stopReason,
          outputTokens: generation.outputTokens,
          decodeMs: control.nowMs() - decodeMs,
        };
      }
    } finally {
      await sampler.dispose();
    }
  }

  return {
    async abi() {
      const native = await llama();
      return { libraryVersion: native.version, cpuVariant: native.cpuVariant, capabilities: { ...native.capabilities } };
    },
    load,
    async unload() {
      await unload();
      return {};
    },
    count(params) {
      const state = current();
      return { tokens: tokensOf(state, params.messages).length, contextSize: state.context.size };
    },
    generate,
    async trial(params, emit, control) {
      const startMs = control.nowMs();
      const info = await load(
        {
          path: params.path,
          threads: params.threads,
          contextSize: 512,
          microBatch: 128,
          prefillChunk: 128,
          loadMode: 'auto',
          flashAttention: false,
        },
        emit,
        control,
      );
      const result = await generate(
        { messages: [{ role: 'user', content: 'Hello!' }], sampling: greedy, stop: [], maxTokens: TRIAL_TOKENS },
        () => undefined,
        control,
      );
      await unload();
      if (result.stopReason === 'cancelled') throw new AppError('CANCELLED');
      return { description: info.description, tokens: result.outputTokens, ms: control.nowMs() - startMs };
    },
    async close() {
      await unload();
      library?.close();
      library = null;
    },
  };
}

const greedy: GenerateParams['sampling'] = {
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  repeatPenalty: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  penaltyLastN: 0,
  seed: 0,
};

function rendererOf(model: LlamaModel): ChatRenderer {
  if (model.chatTemplate === null) return createPlainRenderer();
  return createTemplateRenderer(
    createChatTemplate(model.chatTemplate, { bos: model.tokenText(model.bos), eos: model.tokenText(model.eos) }),
  );
}

function throttled(emit: (chunk: LoadChunk) => void, control: JobControl): (fraction: number) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (fraction) => {
    const now = control.nowMs();
    // 1 is said once the context stands.
    if (now - lastMs < LOAD_REPORT_MS || fraction >= 1) return;
    lastMs = now;
    emit({ fraction });
  };
}

/** The cheap refusals, in words that the library's own log would not give. @returns bytes. */
async function checkFile(path: string): Promise<number> {
  const corrupt = (reason: string, cause?: unknown) => new AppError('MODEL_FILE_CORRUPT', { reason }, { cause });
  const file = await open(path, 'r').catch((error: unknown) => {
    throw corrupt('missing or unreadable', error);
  });
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw corrupt('not a file');
    const magic = Buffer.alloc(4);
    await file.read(magic, 0, 4, 0);
    if (magic.toString('latin1') !== 'GGUF') throw corrupt('not a GGUF file');
    return stat.size;
  } finally {
    await file.close();
  }
}
