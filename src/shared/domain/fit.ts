import { AppError } from '../errors/appError.ts';
import type { GgufHeader, GgufValue } from './gguf.ts';

/** What a load is asked to do. Tokens; `flashAttention` off needs the CPU's work buffer. */
export type LoadShape = { readonly contextSize: number; readonly microBatch: number; readonly flashAttention: boolean };

/** What the formula needs of a model, all from its header. */
export type ModelShape = {
  readonly architecture: string;
  readonly weightBytes: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly keyDim: number;
  readonly valueDim: number;
  readonly feedForward: number;
  readonly vocabulary: number;
  readonly merges: number;
  readonly trainedContext: number;
  /** Some layers look back only so far: the library then makes a second mask. */
  readonly slidingWindow: boolean;
};

/** Bytes by cause. `process` is a bare engine, `work` the CPU buffer that the library does not log. */
export type MemoryNeed = {
  readonly process: number;
  readonly weights: number;
  readonly vocabulary: number;
  readonly kv: number;
  readonly compute: number;
  readonly work: number;
  readonly total: number;
};

/** Measured (facts/models.md, section 3): a bare engine, one token and one merge rule of a vocabulary. Bytes. */
const measured = { process: 54 * 1024 * 1024, token: 176, merge: 230 } as const;

/**
 * Reads from a checked header what memory depends on.
 *
 * @throws AppError MODEL_FILE_CORRUPT if a key is missing or no count; MODEL_ARCH_UNSUPPORTED without an architecture.
 */
export function modelShape(header: GgufHeader): ModelShape {
  const architecture = header.metadata.get('general.architecture');
  if (typeof architecture !== 'string' || !/^[a-z0-9][a-z0-9_.-]{0,63}$/.test(architecture)) {
    throw new AppError('MODEL_ARCH_UNSUPPORTED', { architecture: 'none' });
  }
  const read = (name: string) => header.metadata.get(`${architecture}.${name}`);
  const count = (name: string, otherwise?: number) => {
    const value = read(name);
    return value === undefined && otherwise !== undefined ? otherwise : positive(value, `${architecture}.${name}`);
  };
  const heads = count('attention.head_count');
  const headDim = Math.max(1, Math.floor(count('embedding_length') / heads));
  return {
    architecture,
    weightBytes: header.weightBytes,
    layers: count('block_count'),
    heads,
    kvHeads: count('attention.head_count_kv', heads),
    keyDim: count('attention.key_length', headDim),
    valueDim: count('attention.value_length', headDim),
    feedForward: count('feed_forward_length', count('embedding_length')),
    vocabulary: lengthOf(header.metadata.get('tokenizer.ggml.tokens')) ?? count('vocab_size', 1),
    merges: lengthOf(header.metadata.get('tokenizer.ggml.merges')) ?? 0,
    trainedContext: count('context_length'),
    slidingWindow: read('attention.sliding_window') !== undefined,
  };
}

/**
 * Memory of one loaded model with its context full, on the CPU, one sequence, f16 cache, one output at a time. Within 2 % of the
 * four measured loads.
 *
 * @returns bytes by cause.
 * @source  facts/models.md, section 3; the shapes of the library's own graph (scores, masks, the wider of its two blocks).
 */
export function memoryNeed(shape: ModelShape, load: LoadShape): MemoryNeed {
  const { contextSize, microBatch, flashAttention } = load;
  const process = measured.process;
  const weights = shape.weightBytes;
  const vocabulary = shape.vocabulary * measured.token + shape.merges * measured.merge;
  // The library keeps a full cache for sliding-window layers too, unless it is told otherwise.
  const kv = shape.layers * contextSize * shape.kvHeads * (shape.keyDim + shape.valueDim) * 2;
  const masks = shape.slidingWindow ? 2 : 1;
  // With flash attention the scores are never stored, and the mask is half as wide.
  const scores = flashAttention ? microBatch * contextSize * masks * 2 : microBatch * contextSize * (shape.heads + masks) * 4;
  const blocks = microBatch * (2 * shape.feedForward + shape.kvHeads * shape.keyDim) * 4;
  const compute = scores + blocks + shape.vocabulary * 4;
  const work = flashAttention ? 0 : contextSize * microBatch * shape.heads * 2;
  const total = process + weights + vocabulary + kv + compute + work;
  return { process, weights, vocabulary, kv, compute, work, total };
}

/**
 * The gate before a load: says no with figures, before the native library is asked.
 *
 * @param freeBytes  what the system could give now without swapping; `null` = not known, then nothing is refused.
 * @throws AppError MODEL_DOES_NOT_FIT.
 */
export function checkFit(need: MemoryNeed, freeBytes: number | null): void {
  if (freeBytes !== null && need.total > freeBytes) {
    throw new AppError('MODEL_DOES_NOT_FIT', { needBytes: Math.ceil(need.total), freeBytes: Math.max(0, Math.floor(freeBytes)) });
  }
}

/** Counts past this make no model; they would only make the arithmetic above meaningless. */
const maxCount = 1 << 30;

function positive(value: GgufValue | undefined, field: string): number {
  // Some files give one number per layer; the largest is the safe one.
  const one = typeof value === 'object' ? value.first.reduce<number>((most, n) => Math.max(most, Number(n)), 0) : Number(value);
  if (typeof value === 'string' || !Number.isSafeInteger(one) || one < 1 || one > maxCount) {
    throw new AppError('MODEL_FILE_CORRUPT', { reason: `${field}: missing or no count`, field });
  }
  return one;
}

function lengthOf(value: GgufValue | undefined): number | null {
  return typeof value === 'object' ? value.length : null;
}
