import { AppError } from '../../src/shared/errors/appError.ts';

/** Status codes of C code that we write, and the table that foreign codes are translated into (ABI-09). */
export const Status = {
  ok: 0,
  notImplemented: -1,
  invalidArgument: -2,
  bundleInvalid: -3,
  fault: -4,
  outOfMemory: -5,
  abiMismatch: -6,
  cancelled: -7,
} as const;

/**
 * A status as the error a caller gets.
 *
 * @param stage  which step failed, in words for developers; no user text, no path.
 * @returns null for 0. A code that the table does not know is ENGINE_FAULT: it must never pass for success.
 */
export function statusError(status: number, stage: string, library = 'native'): AppError | null {
  switch (status) {
    case Status.ok:
      return null;
    case Status.notImplemented:
      return new AppError('UNSUPPORTED', { what: stage });
    case Status.invalidArgument:
      return new AppError('INVALID_INPUT', { field: stage, reason: 'refused by the library' });
    case Status.bundleInvalid:
      return new AppError('MODEL_FILE_CORRUPT', { reason: stage });
    case Status.outOfMemory:
      return new AppError('OUT_OF_MEMORY', { stage });
    case Status.abiMismatch:
      return new AppError('NATIVE_ABI_MISMATCH', { library, expected: 'a matching ABI', found: stage });
    case Status.cancelled:
      return new AppError('CANCELLED');
    default:
      return new AppError('ENGINE_FAULT', { engineKey: '', stage: status === Status.fault ? stage : `${stage} (status ${status})` });
  }
}
