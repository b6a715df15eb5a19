import { z } from 'zod';
import type { ErrorRow } from './row.ts';

const none = z.object({});

/** The guard of `sotto serve` (http-backend page, sections 2 and 4). */
export const serverErrors = {
  FORBIDDEN_HOST: { status: 403, exitCode: 77, retryable: false, textKey: 'errors.forbiddenHost', data: none },
  FORBIDDEN_ORIGIN: { status: 403, exitCode: 77, retryable: false, textKey: 'errors.forbiddenOrigin', data: none },
  UNAUTHORIZED: { status: 401, exitCode: 77, retryable: false, textKey: 'errors.unauthorized', data: none },
  METHOD_NOT_ALLOWED: { status: 405, exitCode: 64, retryable: false, textKey: 'errors.methodNotAllowed', data: none },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, exitCode: 65, retryable: false, textKey: 'errors.unsupportedMediaType', data: none },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    exitCode: 65,
    retryable: false,
    textKey: 'errors.payloadTooLarge',
    data: z.object({ maxBytes: z.int() }),
  },
  REQUEST_TIMEOUT: { status: 408, exitCode: 75, retryable: true, textKey: 'errors.requestTimeout', data: none },
  NOT_READY: { status: 503, exitCode: 75, retryable: true, textKey: 'errors.notReady', data: none },
  BIND_REFUSED: { status: 500, exitCode: 77, retryable: false, textKey: 'errors.bindRefused', data: z.object({ host: z.string() }) },
  PORT_IN_USE: { status: 500, exitCode: 69, retryable: true, textKey: 'errors.portInUse', data: z.object({ port: z.int() }) },
} as const satisfies Record<string, ErrorRow>;
