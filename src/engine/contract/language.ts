import { z } from 'zod';

/** Methods of the engine keys `language` and `probe`. Each has params, chunks and a result; both ends parse what arrives. */

/** RT-04. `threads` = 1…logical cores; `microBatch` 32–2048; sizes in tokens. */
export const LoadParams = z.strictObject({
  path: z.string().min(1),
  contextSize: z.int().min(256).max(1_048_576),
  threads: z.int().min(1).max(256),
  microBatch: z.int().min(32).max(2048).default(512),
  /** Prefill chunk in whole multiples of 32 tokens; the granularity of cancel (ABI-05). */
  prefillChunk: z.int().min(32).max(2048).multipleOf(32).default(128),
  loadMode: z.enum(['auto', 'none', 'mmap']).default('auto'),
  flashAttention: z.boolean().default(false),
});
export type LoadParams = z.infer<typeof LoadParams>;

export const LoadChunk = z.strictObject({ fraction: z.number().min(0).max(1) });
export type LoadChunk = z.infer<typeof LoadChunk>;

export const LoadedInfo = z.strictObject({
  description: z.string(),
  architecture: z.string(),
  contextSize: z.int(),
  trainedContext: z.int(),
  vocabularySize: z.int(),
  fileBytes: z.number(),
  parameters: z.number(),
  hasTemplate: z.boolean(),
  /** The system text of a chat is merged into the first user turn when the template has no system role (BC-09). */
  systemRole: z.enum(['template', 'merged']),
  libraryVersion: z.string(),
  cpuVariant: z.string(),
  capabilities: z.record(z.string(), z.union([z.literal(true), z.string()])),
  loadMs: z.number(),
});
export type LoadedInfo = z.infer<typeof LoadedInfo>;

export const ChatMessage = z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() });
export type ChatMessage = z.infer<typeof ChatMessage>;

/** ABI-08. `seed` null = a fresh one. `temperature` 0 = greedy. */
export const Sampling = z.strictObject({
  temperature: z.number().min(0).max(5).default(0.7),
  topK: z.int().min(0).max(100_000).default(40),
  topP: z.number().gt(0).max(1).default(0.9),
  minP: z.number().min(0).max(1).default(0.05),
  repeatPenalty: z.number().gt(0).max(5).default(1),
  frequencyPenalty: z.number().min(-5).max(5).default(0),
  presencePenalty: z.number().min(-5).max(5).default(0),
  penaltyLastN: z.int().min(0).max(8192).default(64),
  seed: z.int().min(0).max(0xffff_fffe).nullable().default(null),
});
export type Sampling = z.infer<typeof Sampling>;

export const CountParams = z.strictObject({ messages: z.array(ChatMessage).min(1).max(4096) });
export const CountResult = z.strictObject({ tokens: z.int(), contextSize: z.int() });

export const GenerateParams = z.strictObject({
  messages: z.array(ChatMessage).min(1).max(4096),
  sampling: Sampling,
  stop: z.array(z.string().min(1).max(256)).max(16).default([]),
  maxTokens: z.int().min(1).max(131_072),
});
export type GenerateParams = z.infer<typeof GenerateParams>;

export const GenerateChunk = z.discriminatedUnion('kind', [
  /** At least every 500 ms (ABI-06). `reused` of `total` tokens came from the KV cache. */
  z.strictObject({ kind: z.literal('prefill'), done: z.int(), total: z.int(), reused: z.int() }),
  /** One token or more up to 32 tokens, 1,024 bytes or 30 ms; ends on a whole character (ABI-05). */
  z.strictObject({ kind: z.literal('text'), tokens: z.int(), text: z.string() }),
]);
export type GenerateChunk = z.infer<typeof GenerateChunk>;

export const GenerateResult = z.strictObject({
  stopReason: z.enum(['end', 'stop', 'length', 'context', 'cancelled']),
  promptTokens: z.int(),
  reusedTokens: z.int(),
  outputTokens: z.int(),
  prefillMs: z.number(),
  decodeMs: z.number(),
});
export type GenerateResult = z.infer<typeof GenerateResult>;

export const TrialParams = z.strictObject({ path: z.string().min(1), threads: z.int().min(1) });
/** RT-09: load, tokenise, 8 tokens, unload. */
export const TrialResult = z.strictObject({ description: z.string(), tokens: z.int(), ms: z.number() });

export const languageMethods = {
  abi: {
    params: z.strictObject({}),
    chunk: z.never(),
    result: z.strictObject({
      libraryVersion: z.string(),
      cpuVariant: z.string(),
      capabilities: z.record(z.string(), z.union([z.literal(true), z.string()])),
    }),
  },
  load: { params: LoadParams, chunk: LoadChunk, result: LoadedInfo },
  unload: { params: z.strictObject({}), chunk: z.never(), result: z.strictObject({}) },
  count: { params: CountParams, chunk: z.never(), result: CountResult },
  generate: { params: GenerateParams, chunk: GenerateChunk, result: GenerateResult },
  trial: { params: TrialParams, chunk: LoadChunk, result: TrialResult },
} as const;

/** models page 11: numbers. All ms but `loadPerByte`. */
export const engineLimits = {
  startMs: 10_000,
  loadBaseMs: 30_000,
  loadPerByteMs: 1000 / 100e6,
  decodeStepMs: 60_000,
  prefillSilenceMs: 30_000,
  pingEveryMs: 5_000,
  pingDeadlineMs: 15_000,
  stopWaitMs: 3_000,
  stepTokens: 32,
  stepBytes: 1024,
  stepMs: 30,
} as const;
