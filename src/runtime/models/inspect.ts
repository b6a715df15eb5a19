import { type GgufHeader, readGgufHeader } from '../../shared/domain/gguf.ts';
import type { Files } from '../platform/files.ts';
import type { Clock } from '../platform/ports.ts';

/**
 * Our own look at a model file, before anything native may see it (IMP-03).
 *
 * @throws AppError MODEL_FILE_CORRUPT, MODEL_ARCH_UNSUPPORTED, STORE_IO.
 */
export async function inspectModelFile(files: Files, path: string, clock: Clock): Promise<GgufHeader> {
  const file = await files.openReadable(path);
  try {
    const size = await file.size();
    return await readGgufHeader(
      {
        size,
        async read(offset, length) {
          const bytes = new Uint8Array(length);
          let done = 0;
          while (done < length) {
            const count = await file.read(bytes.subarray(done), offset + done);
            if (count === 0) break;
            done += count;
          }
          return bytes.subarray(0, done);
        },
      },
      () => clock.monotonicMs(),
    );
  } finally {
    await file.close();
  }
}
