import { ORPCError } from '@orpc/client';
import { type AppError, fromWire } from '../../shared/errors/appError.ts';

/** What the runtime answered, as our own error; null when it is no answer of the runtime. */
export function fromClientError(error: unknown): AppError | null {
  if (!(error instanceof ORPCError)) return null;
  const data = typeof error.data === 'object' && error.data !== null ? { ...error.data } : {};
  return fromWire({ code: error.code, message: error.message, data });
}
