import { AppError } from '../../../shared/errors/appError.ts';
import type { Files } from '../../platform/files.ts';
import type { Logger } from '../../platform/ports.ts';
import { downloadLimits as limits } from '../limits.ts';

/**
 * Room on the volume of the models folder (DL-04, DL-05).
 *
 * @param remaining  bytes that all unfinished jobs still have to write, unpacking included.
 */
export function createDiskGate(deps: { files: Files; modelsDir: string; remaining: () => number; log: Logger }) {
  const { files, modelsDir, remaining, log } = deps;
  const free = async (): Promise<number | null> => {
    const bytes = await files.freeBytes(modelsDir);
    if (bytes === null) log.warn('download.freeSpaceUnknown');
    return bytes;
  };
  const full = (neededBytes: number, freeBytes: number) => new AppError('DISK_FULL', { neededBytes, freeBytes });
  return {
    /** Before a byte: everything unfinished and the margin must fit. @throws AppError DISK_FULL. */
    async enter(): Promise<void> {
      const bytes = await free();
      const needed = remaining() + limits.diskMargin;
      if (bytes !== null && needed > bytes) throw full(needed, bytes);
    },
    /** While writing: the database must stay writable. @throws AppError DISK_FULL. */
    async floor(): Promise<void> {
      const bytes = await free();
      if (bytes !== null && bytes < limits.diskFloor) throw full(remaining() + limits.diskMargin, bytes);
    },
    /** The figures of a write that the system refused. */
    async refused(): Promise<AppError> {
      return full(remaining() + limits.diskMargin, (await free()) ?? 0);
    },
  };
}
export type DiskGate = ReturnType<typeof createDiskGate>;
