import { z } from 'zod';
import type { ErrorRow } from './row.ts';

const none = z.object({});

/** Sessions, turns and the event log (agent-runtime page, section 31). */
export const agentErrors = {
  AGENT_NOT_FOUND: { status: 404, exitCode: 66, retryable: false, textKey: 'errors.agentNotFound', data: none },
  SESSION_NOT_FOUND: { status: 404, exitCode: 66, retryable: false, textKey: 'errors.sessionNotFound', data: none },
  SESSION_CONFLICT: { status: 409, exitCode: 65, retryable: false, textKey: 'errors.sessionConflict', data: none },
  SESSION_LOG_TOO_LARGE: { status: 422, exitCode: 65, retryable: false, textKey: 'errors.sessionLogTooLarge', data: none },
  TURN_NOT_FOUND: { status: 404, exitCode: 66, retryable: false, textKey: 'errors.turnNotFound', data: none },
  TURN_ACTIVE: { status: 409, exitCode: 75, retryable: true, textKey: 'errors.turnActive', data: z.object({ turnId: z.string() }) },
  TURN_MISMATCH: {
    status: 409,
    exitCode: 65,
    retryable: false,
    textKey: 'errors.turnMismatch',
    data: z.object({ activeTurnId: z.string() }),
  },
  NO_ACTIVE_TURN: { status: 409, exitCode: 65, retryable: false, textKey: 'errors.noActiveTurn', data: none },
  IDEMPOTENCY_KEY_REUSED: { status: 422, exitCode: 65, retryable: false, textKey: 'errors.idempotencyKeyReused', data: none },
  STALE_WRITER: { status: 409, exitCode: 70, retryable: false, textKey: 'errors.staleWriter', data: none },
  INVALID_APPEND: { status: 400, exitCode: 70, retryable: false, textKey: 'errors.invalidAppend', data: z.object({ reason: z.string() }) },
  EVENT_TOO_LARGE: {
    status: 400,
    exitCode: 65,
    retryable: false,
    textKey: 'errors.eventTooLarge',
    data: z.object({ bytes: z.int(), maxBytes: z.int() }),
  },
  HISTORY_TOO_LARGE: { status: 422, exitCode: 65, retryable: false, textKey: 'errors.historyTooLarge', data: none },
  CURSOR_MALFORMED: { status: 400, exitCode: 64, retryable: false, textKey: 'errors.cursor', data: none },
  CURSOR_CROSS_SESSION: { status: 400, exitCode: 64, retryable: false, textKey: 'errors.cursor', data: none },
  CURSOR_EXPIRED: { status: 400, exitCode: 64, retryable: true, textKey: 'errors.cursor', data: none },
  CURSOR_INCOMPATIBLE: { status: 400, exitCode: 64, retryable: false, textKey: 'errors.cursor', data: none },
  CONTEXT_OVERFLOW: {
    status: 422,
    exitCode: 65,
    retryable: false,
    textKey: 'errors.contextOverflow',
    data: z.object({ tokens: z.int(), contextSize: z.int() }),
  },
  TURN_TIMEOUT: { status: 503, exitCode: 75, retryable: true, textKey: 'errors.turnTimeout', data: none },
  MODEL_STALLED: { status: 503, exitCode: 75, retryable: true, textKey: 'errors.modelStalled', data: z.object({ cause: z.string() }) },
  INTERRUPTED: { status: 503, exitCode: 75, retryable: true, textKey: 'errors.interrupted', data: none },
  TOO_MANY_REQUESTS: {
    status: 429,
    exitCode: 75,
    retryable: true,
    textKey: 'errors.tooManyRequests',
    data: z.object({ retryAfterSeconds: z.number() }),
  },
  SEARCH_TIMEOUT: { status: 503, exitCode: 75, retryable: true, textKey: 'errors.searchTimeout', data: none },
} as const satisfies Record<string, ErrorRow>;
