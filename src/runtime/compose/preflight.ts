import { memoryNeed, modelShape } from '../../shared/domain/fit.ts';
import type { Preflight } from '../engines/ports.ts';
import { inspectModelFile } from '../models/inspect.ts';
import type { Files } from '../platform/files.ts';
import type { Clock } from '../platform/ports.ts';

/** The engine's default (RT-04): what one pass reads at most. */
const MICRO_BATCH = 512;

/** Our own look at a model file before the native library sees it, and what loading it takes. */
export function createPreflight(files: Files, clock: Clock): Preflight {
  return async (path) => {
    const header = await inspectModelFile(files, path, clock);
    const shape = modelShape(header);
    return {
      fileBytes: header.fileBytes,
      trainedContext: shape.trainedContext,
      needBytes: (contextSize) => memoryNeed(shape, { contextSize, microBatch: MICRO_BATCH, flashAttention: false }).total,
    };
  };
}
