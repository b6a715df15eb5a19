import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';

// The words of the port. Who uses it takes them from here, so that the provider's package is named in this one place.
export type { LanguageModelV4FinishReason, LanguageModelV4Prompt, LanguageModelV4Usage } from '@ai-sdk/provider';

/**
 * The language port: the AI SDK's provider interface, so that local and remote models are alike, and what a durable agent needs
 * besides. Local progress travels as `raw` stream parts that hold a `ModelProgress` (asked for with `includeRawChunks`).
 */
export type LanguageModel = LanguageModelV4 & {
  /** The catalogue id, or the remote model's name. */
  readonly modelId: string;
  readonly where: 'here' | 'away';
  /**
   * Loads the model if it is not.
   *
   * @throws AppError MODEL_DOES_NOT_FIT, MODEL_FILE_CORRUPT, MODEL_DISABLED, ENGINE_*, NATIVE_*, CANCELLED.
   */
  ready(options: { signal: AbortSignal; onProgress: (progress: ModelProgress) => void }): Promise<{ contextSize: number }>;
  /** Tokens of the rendered prompt, as the loaded engine counts them (CX-02). */
  countTokens(prompt: LanguageModelV4Prompt, options: { signal: AbortSignal }): Promise<number>;
};

/** `loading`: 0…1 of the file. `prefill`: prompt tokens read, `reused` of them from the KV cache. */
export type ModelProgress =
  | { readonly kind: 'loading'; readonly fraction: number }
  | { readonly kind: 'prefill'; readonly done: number; readonly total: number; readonly reused: number };
