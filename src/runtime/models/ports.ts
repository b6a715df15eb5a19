import type { ModelId } from '../../shared/domain/ids.ts';
import type { CatalogueEntry, ModelLayout, ModelSource } from '../../shared/domain/models.ts';

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
};

/** Where targets come from: the shipped catalogue, later also the hub and typed addresses. */
export type Targets = { find(modelId: ModelId): DownloadTarget | null };

/**
 * Loads the file in the probe engine as its runtime class does, lets it work a little and unloads (RT-09). Filled by compose.
 *
 * @throws AppError MODEL_FILE_CORRUPT, MODEL_ARCH_UNSUPPORTED, TEMPLATE_REJECTED, OUT_OF_MEMORY, ENGINE_*, NATIVE_*, CANCELLED.
 */
export type Trial = (path: string, signal: AbortSignal, target: DownloadTarget) => Promise<void>;
