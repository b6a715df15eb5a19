import type { Signature, StructFields } from '../core/bind.ts';

/*
 * llama.cpp v0.4.0 as data: `include/llama.h` and `ggml/include/*.h` of the release that the platform packages 3.21.1 are built from.
 * x86-64 and arm64, LP64 and LLP64 alike: every field is a fixed-width number or a pointer.
 */

export const LIBRARY_VERSION = '0.4.0-dev';

export const structs = {
  modelParams: {
    devices: 'pointer',
    tensorBufferOverrides: 'pointer',
    gpuLayers: 'i32',
    splitMode: 'i32',
    /** −1 auto, 0 none, 1 mmap, 2 mlock, 3 mmap + mlock, 4 direct I/O. */
    loadMode: 'i32',
    lazyMode: 'i32',
    mainGpu: 'i32',
    tensorSplit: 'pointer',
    progressCallback: 'pointer',
    progressData: 'pointer',
    kvOverrides: 'pointer',
    vocabOnly: 'bool',
    checkTensors: 'bool',
    useExtraBuffers: 'bool',
    noHost: 'bool',
    noAlloc: 'bool',
    loadMtp: 'bool',
  },
  contextParams: {
    contextSize: 'u32',
    batch: 'u32',
    microBatch: 'u32',
    sequences: 'u32',
    recurrentSnapshots: 'u32',
    outputsMax: 'u32',
    outputsMaxPerSequence: 'u32',
    threads: 'i32',
    threadsBatch: 'i32',
    contextType: 'i32',
    ropeScalingType: 'i32',
    poolingType: 'i32',
    attentionType: 'i32',
    /** −1 auto, 0 off, 1 on. `auto` turns itself on and slows CPU decode (performance facts, finding 4). */
    flashAttention: 'i32',
    ropeFrequencyBase: 'f32',
    ropeFrequencyScale: 'f32',
    yarnExtensionFactor: 'f32',
    yarnAttentionFactor: 'f32',
    yarnBetaFast: 'f32',
    yarnBetaSlow: 'f32',
    yarnOriginalContext: 'u32',
    defragThreshold: 'f32',
    evalCallback: 'pointer',
    evalData: 'pointer',
    typeK: 'i32',
    typeV: 'i32',
    abortCallback: 'pointer',
    abortData: 'pointer',
    embeddings: 'bool',
    offloadKqv: 'bool',
    noPerf: 'bool',
    opOffload: 'bool',
    swaFull: 'bool',
    kvUnified: 'bool',
    samplers: 'pointer',
    samplerCount: 'size',
    otherContext: 'pointer',
  },
  batch: {
    tokenCount: 'i32',
    tokens: 'pointer',
    embeddings: 'pointer',
    positions: 'pointer',
    sequenceCounts: 'pointer',
    sequenceIds: 'pointer',
    outputs: 'pointer',
  },
  samplerChainParams: { noPerf: 'bool' },
} as const satisfies Readonly<Record<string, StructFields>>;

/**
 * The bytes that `llama_*_default_params` must return, eight per word, `..` for padding. A library with another layout shows here as
 * another byte; calling on with a wrong layout aborts the process instead.
 */
export const defaultPatterns = {
  llama_model_default_params: [
    '0000000000000000 0000000000000000', // devices, tensor_buft_overrides
    'ffffffff01000000 ffffffff01000000', // n_gpu_layers −1, split_mode layer; load_mode auto, lazy_mode auto
    '00000000........ 0000000000000000', // main_gpu; tensor_split
    '0000000000000000 0000000000000000', // progress_callback and its data
    '0000000000000000 000001000000....', // kv_overrides; use_extra_bufts alone is set
  ],
  llama_context_default_params: [
    '0002000000080000 0002000001000000', // n_ctx 512, n_batch 2048; n_ubatch 512, n_seq_max 1
    '0000000000000000 0100000004000000', // n_rs_seq, n_outputs_max; n_outputs_max_per_seq 1, n_threads 4
    '0400000000000000 ffffffffffffffff', // n_threads_batch 4, ctx_type; rope_scaling_type, pooling_type
    'ffffffffffffffff 0000000000000000', // attention_type, flash_attn_type; rope_freq_base, rope_freq_scale
    '000080bf000080bf 000080bf000080bf', // yarn factors −1
    '00000000000080bf 0000000000000000', // yarn_orig_ctx, defrag_thold −1; cb_eval
    '0000000000000000 0100000001000000', // its data; type_k, type_v F16
    '0000000000000000 0000000000000000', // abort_callback and its data
    '000101010100.... 0000000000000000', // offload_kqv, no_perf, op_offload, swa_full; samplers
    '0000000000000000 0000000000000000', // n_samplers; ctx_other
  ],
} as const;

type Words = 'void' | 'bool' | 'i32' | 'u32' | 'f32' | 'u64' | 'size' | 'text' | 'buffer' | 'pointer' | keyof typeof structs;

/** A required function of libllama. */
function llama<const R extends Words, const A extends readonly Words[], const M extends 'sync' | 'async'>(mode: M, result: R, args: A) {
  return { library: 'llama', mode, result, args } as const;
}

/** One that may be missing: its family is then off, with a reason. */
function optional<const R extends Words, const A extends readonly Words[]>(result: R, args: A) {
  return { library: 'llama', mode: 'sync', optional: true, result, args } as const;
}

function ggml<const R extends Words, const A extends readonly Words[], const M extends 'sync' | 'async'>(mode: M, result: R, args: A) {
  return { library: 'ggml', mode, result, args } as const;
}

export const signatures = {
  ggml_backend_load_all_from_path: ggml('async', 'void', ['text']),
  ggml_backend_dev_count: ggml('sync', 'size', []),

  llama_backend_init: llama('sync', 'void', []),
  /** callback (level, text, data) or null, data */
  llama_log_set: llama('sync', 'void', ['pointer', 'pointer']),
  llama_model_default_params: llama('sync', 'modelParams', []),
  llama_context_default_params: llama('sync', 'contextParams', []),

  llama_model_load_from_file: llama('async', 'pointer', ['text', 'modelParams']),
  llama_model_free: llama('async', 'void', ['pointer']),
  llama_model_get_vocab: llama('sync', 'pointer', ['pointer']),
  llama_model_n_ctx_train: llama('sync', 'i32', ['pointer']),
  llama_model_n_params: llama('sync', 'u64', ['pointer']),
  llama_model_has_encoder: llama('sync', 'bool', ['pointer']),
  llama_model_has_decoder: llama('sync', 'bool', ['pointer']),
  llama_model_is_diffusion: llama('sync', 'bool', ['pointer']),
  /** model, buffer, its size → length without NUL */
  llama_model_desc: llama('sync', 'i32', ['pointer', 'buffer', 'size']),
  /** model, key, buffer, its size → length without NUL, or −1 */
  llama_model_meta_val_str: llama('sync', 'i32', ['pointer', 'text', 'buffer', 'size']),
  /** model, template name or null → text or NULL */
  llama_model_chat_template: llama('sync', 'text', ['pointer', 'text']),

  llama_vocab_n_tokens: llama('sync', 'i32', ['pointer']),
  llama_vocab_is_eog: llama('sync', 'bool', ['pointer', 'i32']),
  llama_vocab_is_control: llama('sync', 'bool', ['pointer', 'i32']),
  llama_vocab_bos: llama('sync', 'i32', ['pointer']),
  llama_vocab_eos: llama('sync', 'i32', ['pointer']),
  llama_vocab_get_add_bos: llama('sync', 'bool', ['pointer']),
  llama_vocab_get_text: llama('sync', 'text', ['pointer', 'i32']),
  /** vocab, UTF-8, its bytes, room, its tokens, add_special, parse_special → count, or −needed */
  llama_tokenize: llama('sync', 'i32', ['pointer', 'buffer', 'i32', 'buffer', 'i32', 'bool', 'bool']),
  /** vocab, token, room, its bytes, lstrip, special → length, or −needed */
  llama_token_to_piece: llama('sync', 'i32', ['pointer', 'i32', 'buffer', 'i32', 'i32', 'bool']),

  llama_init_from_model: llama('async', 'pointer', ['pointer', 'contextParams']),
  llama_free: llama('async', 'void', ['pointer']),
  llama_n_ctx: llama('sync', 'u32', ['pointer']),
  llama_n_batch: llama('sync', 'u32', ['pointer']),
  llama_get_memory: llama('sync', 'pointer', ['pointer']),
  llama_set_abort_callback: llama('sync', 'void', ['pointer', 'pointer', 'pointer']),
  // Over a millisecond, and synchronous on purpose: the async form is 0.65–0.77 of this loop (performance facts, finding 1).
  llama_decode: llama('sync', 'i32', ['pointer', 'batch']),
  llama_memory_clear: llama('sync', 'void', ['pointer', 'bool']),
  llama_memory_seq_rm: llama('sync', 'bool', ['pointer', 'i32', 'i32', 'i32']),
  llama_memory_seq_pos_min: llama('sync', 'i32', ['pointer', 'i32']),

  llama_sampler_chain_init: llama('sync', 'pointer', ['samplerChainParams']),
  llama_sampler_chain_add: llama('sync', 'void', ['pointer', 'pointer']),
  llama_sampler_free: llama('sync', 'void', ['pointer']),
  /** chain, context, output index (−1 = last) → token; it also accepts the token */
  llama_sampler_sample: llama('sync', 'i32', ['pointer', 'pointer', 'i32']),
  llama_sampler_init_greedy: llama('sync', 'pointer', []),
  llama_sampler_init_dist: llama('sync', 'pointer', ['u32']),
  llama_sampler_init_top_k: llama('sync', 'pointer', ['i32']),
  llama_sampler_init_top_p: llama('sync', 'pointer', ['f32', 'size']),
  llama_sampler_init_min_p: llama('sync', 'pointer', ['f32', 'size']),
  llama_sampler_init_temp: llama('sync', 'pointer', ['f32']),
  /** vocabulary size, last n, repeat, frequency, presence: five arguments in this version */
  llama_sampler_init_penalties: llama('sync', 'pointer', ['i32', 'i32', 'f32', 'f32', 'f32']),
  /** vocab, GBNF text, root rule → NULL on a syntax error */
  llama_sampler_init_grammar: optional('pointer', ['pointer', 'text', 'text']),
} as const satisfies Readonly<Record<string, Signature>>;

/** Optional families (ABI-03): a missing symbol turns its capability off. */
export const families: Readonly<Record<string, readonly string[]>> = {
  embed: ['llama_set_embeddings', 'llama_get_embeddings_ith', 'llama_get_embeddings_seq'],
  'sequence-state': ['llama_state_seq_get_size', 'llama_state_seq_get_data', 'llama_state_seq_set_data'],
  grammar: ['llama_sampler_init_grammar', 'llama_sampler_init_grammar_lazy_patterns'],
  projector: ['mtmd_init_from_file'],
  drafter: ['llama_set_sampler', 'llama_get_sampled_token_ith'],
};

/** Codes of `llama_decode`, translated to ours (`core/status.ts`): context full and abort are outcomes, not faults. */
export const decodeCodes = { ok: 0, contextFull: 1, aborted: 2, invalidBatch: -1, outOfMemory: -2, computeFailed: -3 } as const;
