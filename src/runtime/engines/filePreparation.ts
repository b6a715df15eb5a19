import type { ModelLayout, ModelPreparation } from '../../shared/domain/models.ts';
import { type EngineClient, loadDeadlineMs } from './engineClient.ts';

export type FilePreparation = {
  readonly kind: ModelPreparation['kind'];
  readonly from: string;
  readonly to: string;
  readonly layout: ModelLayout;
};

/**
 * Makes a fetched file ready for this machine, in the probe engine: neither its memory nor a fault in it touches the runtime.
 *
 * @throws AppError MODEL_FILE_CORRUPT, DISK_FULL, STORE_IO, ENGINE_*, CANCELLED.
 */
export async function prepareFile(
  probe: EngineClient,
  { kind, from, to, layout }: FilePreparation,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (fraction: number) => void },
): Promise<{ bytes: number; sha256: string }> {
  const deadline = { stage: 'prepare', ms: loadDeadlineMs(layout.reduce((sum, part) => sum + part.bytes, 0)) };
  switch (kind) {
    case 'float-conv': {
      const { bytes, sha256 } = await probe.call(
        'prepare.floatConv',
        { from, to, parts: layout },
        // A slow disk is no reason to give up as long as something is written.
        { signal, deadline, onChunk: ({ fraction }) => onProgress(fraction), afterChunk: () => deadline },
      );
      return { bytes, sha256 };
    }
  }
}
