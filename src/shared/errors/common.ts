import { z } from 'zod';
import type { ErrorRow } from './row.ts';

const none = z.object({});

export const commonErrors = {
  INVALID_INPUT: {
    status: 400,
    exitCode: 64,
    retryable: false,
    textKey: 'errors.invalidInput',
    data: z.object({ field: z.string(), reason: z.string() }),
  },
  UNKNOWN_PROCEDURE: { status: 404, exitCode: 70, retryable: false, textKey: 'errors.unknownProcedure', data: none },
  FORBIDDEN_SENDER: { status: 403, exitCode: 77, retryable: false, textKey: 'errors.forbiddenSender', data: none },
  CANCELLED: { status: 499, exitCode: 130, retryable: false, textKey: 'errors.cancelled', data: none },
  SHUTTING_DOWN: { status: 503, exitCode: 75, retryable: true, textKey: 'errors.shuttingDown', data: none },
  HANDLE_CLOSED: { status: 500, exitCode: 70, retryable: false, textKey: 'errors.handleClosed', data: none },
  NOT_FOUND: { status: 404, exitCode: 66, retryable: false, textKey: 'errors.notFound', data: none },
  INTERNAL: {
    status: 500,
    exitCode: 70,
    retryable: false,
    textKey: 'errors.internal',
    data: z.object({ incident: z.string() }),
  },
} as const satisfies Record<string, ErrorRow>;
