import { AppError } from '../../src/shared/errors/appError.ts';
import { Handle, type Pointer } from '../core/handle.ts';
import { koffi } from '../core/koffi.ts';
import { Status, statusError } from '../core/status.ts';
import type { LlamaApi } from './library.ts';
import type { LogCollector } from './log.ts';
import type { ContextOptions, DecodeOutcome, LlamaContext } from './modelType.ts';
import { samplerHandle } from './sampler.ts';
import { decodeCodes } from './signatures.ts';

const SEQUENCE = 0;

/**
 * @param model     stays alive until the context is disposed (the model's owner sees to that).
 * @throws AppError OUT_OF_MEMORY, ENGINE_FAULT.
 */
export async function createContext(
  api: LlamaApi,
  log: LogCollector,
  model: Pointer,
  vocabularySize: number,
  options: ContextOptions,
  onDispose: (context: LlamaContext) => void,
): Promise<LlamaContext> {
  const params = api.llama_context_default_params();
  params.contextSize = options.contextSize;
  params.batch = options.batchSize;
  params.microBatch = Math.min(options.microBatch, options.batchSize);
  // One output per batch: the compute buffer is 30 instead of 312 MiB (performance facts, finding 7).
  params.outputsMax = 1;
  params.threads = options.threads;
  params.threadsBatch = options.threads;
  params.flashAttention = options.flashAttention ? 1 : 0;
  log.clear();
  const pointer = await api.llama_init_from_model(model, params);
  if (pointer === null) {
    throw log.explain('context', (reason) => new AppError('ENGINE_FAULT', { engineKey: '', stage: `context: ${reason}` }));
  }

  const size = api.llama_n_ctx(pointer);
  const batchSize = api.llama_n_batch(pointer);
  const memory = api.llama_get_memory(pointer);
  // Native memory for token ids: what `llama_decode` reads must not be movable by the garbage collector.
  const tokenBuffer = koffi().alloc('int32', batchSize) as Pointer;
  let shouldAbort: (() => boolean) | undefined;
  const abortCallback = koffi().register(
    () => {
      try {
        return shouldAbort?.() ?? false;
      } catch {
        return false;
      }
    },
    koffi().pointer(koffi().proto('bool', ['void *'])),
  ) as Pointer;
  const handle = new Handle(pointer, async (context) => {
    await api.llama_free(context);
    koffi().unregister(abortCallback);
    koffi().free(tokenBuffer);
  });
  const batch = {
    tokenCount: 0,
    tokens: tokenBuffer,
    embeddings: null,
    positions: null,
    sequenceCounts: null,
    sequenceIds: null,
    outputs: null,
  };
  let used = 0;
  let outputReady = false;

  const invalid = (field: string, reason: string) => new AppError('INVALID_INPUT', { field, reason });

  /** Cuts the memory to `count` tokens. Keeps nothing where a part cannot be kept or would be wrong. */
  function cutMemory(count: number): number {
    outputReady = false;
    if (memory === null) return 0;
    const keep = count > 0 && api.llama_memory_seq_rm(memory, SEQUENCE, count, -1) && beginsAtZero(memory);
    if (keep) used = Math.min(used, count);
    else {
      api.llama_memory_clear(memory, true);
      used = 0;
    }
    return used;
  }

  // A sliding window that has moved lost its first positions: reuse would be silently wrong.
  function beginsAtZero(of: Pointer): boolean {
    return api.llama_memory_seq_pos_min(of, SEQUENCE) === 0;
  }

  function run(context: Pointer, count: number, abort: (() => boolean) | undefined): number {
    batch.tokenCount = count;
    if (abort === undefined) return api.llama_decode(context, batch);
    shouldAbort = abort;
    api.llama_set_abort_callback(context, abortCallback, null);
    try {
      return api.llama_decode(context, batch);
    } finally {
      shouldAbort = undefined;
      api.llama_set_abort_callback(context, null, null);
    }
  }

  function decode(tokens: ArrayLike<number>, abort?: () => boolean): DecodeOutcome {
    const count = tokens.length;
    if (count === 0) throw invalid('tokens', 'empty');
    if (count > batchSize) throw invalid('tokens', `more than ${batchSize} in one batch`);
    for (let i = 0; i < count; i += 1) {
      const token = tokens[i];
      if (token === undefined || !Number.isInteger(token) || token < 0 || token >= vocabularySize) throw invalid('tokens', 'unknown token');
    }
    return handle.use((context) => {
      if (used + count > size) return 'full';
      const one = tokens[0];
      if (count === 1) koffi().encode(tokenBuffer, 'int32', one);
      else koffi().encode(tokenBuffer, 'int32', tokens, count);
      outputReady = false;
      const code = run(context, count, abort);
      if (code === decodeCodes.ok) {
        used += count;
        outputReady = true;
        return 'ok';
      }
      // Micro-batches before the stop stay in the memory: take them out, so that it holds exactly what we count.
      if (code !== decodeCodes.contextFull) cutMemory(used);
      if (code === decodeCodes.contextFull) return 'full';
      if (code === decodeCodes.aborted) return 'aborted';
      throw statusError(decodeStatus(code), 'decode', 'llama') ?? new AppError('ENGINE_FAULT', { engineKey: '', stage: 'decode' });
    });
  }

  const self: LlamaContext = {
    size,
    batchSize,
    get used() {
      return used;
    },
    decode,
    sample: (sampler) =>
      handle.use((context) => {
        // Without an output the library aborts the process.
        if (!outputReady) throw invalid('sample', 'no output is ready');
        const token = samplerHandle(sampler).use((chain) => api.llama_sampler_sample(chain, context, -1));
        if (token < 0 || token >= vocabularySize) throw new AppError('ENGINE_FAULT', { engineKey: '', stage: 'sample' });
        return token;
      }),
    cut(count) {
      if (!Number.isInteger(count) || count < 0) throw invalid('count', 'not a count');
      return handle.use(() => cutMemory(count));
    },
    dispose() {
      onDispose(self);
      return handle.dispose();
    },
  };
  return self;
}

function decodeStatus(code: number): number {
  if (code === decodeCodes.invalidBatch) return Status.invalidArgument;
  if (code === decodeCodes.outOfMemory) return Status.outOfMemory;
  return Status.fault;
}
