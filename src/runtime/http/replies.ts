import { type AppError, incidentId } from '../../shared/errors/appError.ts';
import { codes, type ErrorCode } from '../../shared/errors/codes.ts';

/** A finished answer, before it becomes a Response or raw bytes on a socket. */
export type Reply = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string | Uint8Array };

/** On every answer: no guessing of types, no framing, no caching of anything private, nothing told to other sites. */
export const commonHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Not `no-referrer`: with it a browser sends our own sign-in form with `Origin: null`, which the guard refuses.
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/** The simple `code` of a status (http-backend page, section 4); `sottoCode` beside it names ours. */
function simpleCode(code: ErrorCode, status: number): string {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 404 || status === 405) return 'not_found';
  if (status === 409 || code === 'IDEMPOTENCY_KEY_REUSED') return 'conflict';
  if (status === 429) return 'rate_limited';
  if (status >= 400 && status < 500) return 'invalid_input';
  return code === 'INTERNAL' ? 'internal' : 'unavailable';
}

// General on purpose: a wrong key, a missing thing and a foreign thing read the same (SV-13).
const messages: Partial<Record<ErrorCode, string>> = {
  FORBIDDEN_HOST: 'This address is not served here.',
  FORBIDDEN_ORIGIN: 'Requests from other sites are refused.',
  UNAUTHORIZED: 'A valid key or sign-in is needed.',
  NOT_FOUND: 'There is nothing here.',
  METHOD_NOT_ALLOWED: 'This method is not allowed here.',
  UNSUPPORTED_MEDIA_TYPE: 'This content type is not accepted here.',
  PAYLOAD_TOO_LARGE: 'The body is too large.',
  REQUEST_TIMEOUT: 'The request took too long to arrive.',
  NOT_READY: 'Still starting. Try again in a moment.',
  TOO_MANY_REQUESTS: 'Too many requests. Try again later.',
  INVALID_INPUT: 'The request is not well formed.',
  SHUTTING_DOWN: 'The server is stopping.',
};

/**
 * The simple error body. Never holds a path, a token, user text or the message of a foreign error.
 *
 * @param status  other than the table's, where HTTP knows a better one (431).
 */
export function errorReply(
  error: AppError,
  more: { status?: number | undefined; headers?: Readonly<Record<string, string>> | undefined } = {},
): Reply {
  const status = more.status ?? codes[error.code].status;
  const { incident: known } = error.data;
  const incident = error.code === 'INTERNAL' ? { incidentId: typeof known === 'string' ? known : incidentId() } : {};
  const details = error.code === 'INTERNAL' || Object.keys(error.data).length === 0 ? {} : { details: error.data };
  const body = {
    error: {
      code: simpleCode(error.code, status),
      message: messages[error.code] ?? 'The request failed.',
      ...details,
      sottoCode: error.code,
      ...incident,
    },
  };
  return json(status, body, more.headers);
}

export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    status,
    headers: { ...commonHeaders, 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(body),
  };
}

export function html(status: number, body: string, headers: Readonly<Record<string, string>>): Reply {
  return { status, headers: { ...commonHeaders, 'content-type': 'text/html; charset=utf-8', ...headers }, body };
}

/** To another address of ours, as a GET. */
export function redirect(location: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status: 303, headers: { ...commonHeaders, location, 'content-length': '0', ...headers }, body: '' };
}

export function toResponse(reply: Reply): Response {
  return new Response(typeof reply.body === 'string' ? reply.body : new Uint8Array(reply.body), {
    status: reply.status,
    headers: reply.headers,
  });
}
