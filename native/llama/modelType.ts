import type { SamplerOptions } from './samplerOptions.ts';

declare const samplerBrand: unique symbol;
/** A sampler chain; made and freed by its model, used by a context of the same model. */
export type LlamaSampler = { readonly [samplerBrand]: true; dispose(): Promise<void> };

export type DecodeOutcome = 'ok' | 'full' | 'aborted';

/**
 * One sequence of tokens and its KV memory. Synchronous: it belongs to a thread that has nothing else to do. `used` counts tokens in
 * the memory and is right after every outcome.
 */
export type LlamaContext = {
  /** Tokens it holds; a multiple of 256. */
  readonly size: number;
  /** Most tokens of one `decode`. */
  readonly batchSize: number;
  readonly used: number;
  /**
   * Evaluates tokens at the end of the sequence and makes the last one's output ready for `sample`.
   *
   * @param tokens       1…batchSize ids of the vocabulary.
   * @param shouldAbort  asked at every graph node: for prefill only, it costs a call each. May not throw.
   * @returns `full`: nothing was evaluated, the memory has no room. `aborted`: nothing of this batch is kept.
   * @throws AppError INVALID_INPUT before the call (empty, too many, unknown id), OUT_OF_MEMORY, ENGINE_FAULT, HANDLE_CLOSED.
   */
  decode(tokens: ArrayLike<number>, shouldAbort?: () => boolean): DecodeOutcome;
  /** The next token by the chain, which accepts it. @throws AppError INVALID_INPUT if no output is ready. */
  sample(sampler: LlamaSampler): number;
  /**
   * Cuts the sequence to its first `count` tokens.
   *
   * @returns tokens kept: `count`, or 0 where the memory cannot be cut or no longer begins at 0 (recurrent models, a window that moved).
   */
  cut(count: number): number;
  dispose(): Promise<void>;
};

export type ContextOptions = {
  readonly contextSize: number;
  /** Most tokens of one `decode`. */
  readonly batchSize: number;
  readonly microBatch: number;
  readonly threads: number;
  readonly flashAttention: boolean;
};

/** A loaded model file. Everything it returns is a copy. */
export type LlamaModel = {
  readonly description: string;
  readonly architecture: string;
  readonly trainedContext: number;
  readonly vocabularySize: number;
  readonly parameters: number;
  /** Jinja text of the file, or null. */
  readonly chatTemplate: string | null;
  /** Whether text should begin with `bos`. */
  readonly addsBos: boolean;
  /** Token ids; −1 = none. */
  readonly bos: number;
  readonly eos: number;
  /** Spelling of a token in the vocabulary (`<|im_end|>`); '' for −1. */
  tokenText(token: number): string;
  /** A metadata value as text, or null. */
  metadata(key: string): string | null;
  /** @param parseSpecial  whether spellings of control tokens become control tokens: true for template text only. */
  tokenize(text: string, parseSpecial: boolean): Int32Array;
  /** Bytes that the token adds to a text; none for control tokens. Possibly half a character. */
  tokenBytes(token: number): Uint8Array;
  /** Whether the token ends a reply. The only end test: `eot` is wrong for some models. */
  isEnd(token: number): boolean;
  isControl(token: number): boolean;
  /** @throws AppError UNSUPPORTED (no text decoder, vocabulary only), OUT_OF_MEMORY, ENGINE_FAULT. */
  createContext(options: ContextOptions): Promise<LlamaContext>;
  /** @throws AppError INVALID_INPUT. */
  createSampler(options: SamplerOptions): LlamaSampler;
  /** Frees contexts and samplers first. */
  dispose(): Promise<void>;
};
