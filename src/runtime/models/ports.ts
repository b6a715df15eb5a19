import type { ModelId } from '../../shared/domain/ids.ts';
import type { CatalogueEntry, ModelLayout, ModelPreparation, ModelSource } from '../../shared/domain/models.ts';

/**
 * What a download is to bring. `bytes` and `sha256` are `null` when no trusted statement of them exists; such a file ends as
 * `unproven` (DL-14). The catalogue always knows both.
 */
export type DownloadTarget = {
  readonly modelId: ModelId;
  readonly name: string;
  readonly slot: CatalogueEntry['slot'];
  readonly runtimeClass: CatalogueEntry['runtimeClass'];
  readonly file: { readonly name: string; readonly bytes: number | null; readonly sha256: string | null };
  readonly sources: readonly ModelSource[];
  /** Left out: the file is one part, `model`. */
  readonly layout?: ModelLayout | undefined;
  /** How the fetched file is made ready for this machine; left out: it is used as it came. */
  readonly prepare?: ModelPreparation | undefined;
};

/** Where targets come from: the shipped catalogue, later also the hub and typed addresses. */
export type Targets = { find(modelId: ModelId): DownloadTarget | null };

/**
 * Loads the file in the probe engine as its runtime class does, lets it work a little and unloads (RT-09). Filled by compose.
 *
 * @throws AppError MODEL_FILE_CORRUPT, MODEL_ARCH_UNSUPPORTED, TEMPLATE_REJECTED, OUT_OF_MEMORY, ENGINE_*, NATIVE_*, CANCELLED.
 */
export type Trial = (path: string, signal: AbortSignal, target: DownloadTarget) => Promise<TrialResult | undefined>;

/** `speedFactor`: of a speaking model, seconds that it took for one second of speech. */
export type TrialResult = { readonly speedFactor: number };

/**
 * Writes the prepared form of a proven file (`target.prepare`) to `to`, in a process of its own. Filled by compose.
 *
 * @param from  as it was fetched; it is not changed.
 * @param to    overwritten; what a try that was cut short left there does not matter.
 * @returns what came out; the caller compares it with what was promised.
 * @throws AppError MODEL_FILE_CORRUPT, DISK_FULL, STORE_IO, ENGINE_*, CANCELLED.
 */
export type Prepare = (
  job: { readonly from: string; readonly to: string; readonly target: DownloadTarget },
  options: { readonly signal: AbortSignal; readonly onProgress: (fraction: number) => void },
) => Promise<{ readonly bytes: number; readonly sha256: string }>;
