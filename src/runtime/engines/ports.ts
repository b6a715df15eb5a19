import type { ModelId } from '../../shared/domain/ids.ts';
import type { ModelSampling } from '../../shared/domain/models.ts';

/** A model file that may be loaded, as the registry knows it. */
export type InstalledLanguage = {
  readonly modelId: ModelId;
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
  /** What the catalogue says of this model; `null` = the defaults of its class. */
  readonly sampling: ModelSampling | null;
};

/** Which model shall answer; filled by compose from the registry. */
export type LanguageSlot = {
  chosen(): InstalledLanguage | null;
  /** Absolute path of its file. @throws AppError MODEL_NOT_INSTALLED, MODEL_FILE_CORRUPT. */
  path(modelId: ModelId): Promise<string>;
  onChange(listener: () => void): void;
};

/**
 * Reads the header of a model file and says what loading it takes, without the native library (RB-25, RB-26).
 *
 * @throws AppError MODEL_FILE_CORRUPT, MODEL_ARCH_UNSUPPORTED, MODEL_NOT_INSTALLED if the file is gone.
 */
export type Preflight = (path: string) => Promise<{
  readonly fileBytes: number;
  /** Longest context that the model was trained for; `null` when the header doesn't say. */
  readonly trainedContext: number | null;
  needBytes(contextSize: number): number;
}>;

/** What a person or a test fixed from outside (models page 14). */
export type EngineSettings = {
  /** `SOTTO_THREADS`; default: physical cores − 1, at least 1. */
  readonly threads: number | null;
  /** `SOTTO_CONTEXT`; default: 4,096 or the model's own maximum, if that is less. */
  readonly contextSize: number | null;
  /** `SOTTO_TEMPERATURE`, 0 (always the likeliest word) to 2; default: what suits the model. */
  readonly temperature: number | null;
};

/** RT-10: crashes in a row with one model after which it is off. The default context is what fits an 8 GB machine beside the voice pack. */
export const languageLimits = {
  crashes: 3,
  defaultContext: 4096,
  minContext: 256,
  waitingCalls: 8,
  maxNewTokens: 2048,
  otherCallMs: 30_000,
  progressMs: 100,
} as const;
