import { AppError } from '../../shared/errors/appError.ts';
import type { Caller } from '../store/keys.ts';
import type { Addresses } from './address.ts';
import type { HttpLimits } from './limits.ts';
import type { MatchedRoute } from './routes.ts';

/** The part of a request that is known before a byte of its body: nothing else may decide whether it is served. */
export type RequestHead = {
  readonly method: string;
  /** As it stood in the request line. */
  readonly target: string;
  /** Name, value, name, value … as they came. */
  readonly rawHeaders: readonly string[];
};

export type Refusal = {
  readonly ok: false;
  readonly error: AppError;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
};
export type Admission = { readonly ok: true; readonly route: MatchedRoute; readonly host: string; readonly caller: Caller | null };
export type Verdict = Admission | Refusal;

export type GuardDeps = {
  readonly addresses: Addresses;
  readonly limits: HttpLimits;
  /** Answers `wrong method` with the methods that exist. */
  match(method: string, path: string): MatchedRoute | { readonly allow: readonly string[] } | null;
  /** False = `--no-auth`. */
  readonly needsCredential: boolean;
  /** Null refuses. Gets the host that step 2 found to be ours. */
  authenticate(credential: Credential, host: string): Caller | null;
  /** Rate and stream caps: what to wait for, or null. */
  busy(route: MatchedRoute, caller: Caller | null): { readonly retryAfterSeconds: number } | null;
  /** False until crash recovery is done (SV-02). */
  ready(): boolean;
};

export type Credential = { readonly bearer: string } | { readonly cookies: readonly string[] } | 'none';

// A second one of these could be read differently by the next program in the chain.
const onlyOnce = new Set(['host', 'origin', 'authorization', 'content-length', 'content-type', 'transfer-encoding', 'sec-fetch-site']);

/**
 * Steps 1 to 8 of the guard, in the order of the http-backend page (section 2), for every route, static file and upgrade. Reads the
 * head only; the order decides which of two faults is told, and that nobody without a credential learns more than which routes exist.
 */
export function createGuard(deps: GuardDeps): (head: RequestHead) => Verdict {
  return (head) => {
    // 1: well formed.
    if (head.target.length > deps.limits.addressBytes)
      return refuse('INVALID_INPUT', { field: 'address', reason: 'range' }, { status: 431 });
    if (!head.target.startsWith('/') || head.target.startsWith('//')) return refuse('INVALID_INPUT', { field: 'address', reason: 'type' });
    const headers = readHeaders(head.rawHeaders);
    if (headers === null) return refuse('INVALID_INPUT', { field: 'headers', reason: 'range' });
    // 2: it was meant for us. A page of another site whose name was pointed at this machine fails here.
    const host = headers.get('host')?.toLowerCase();
    if (host === undefined) return refuse('INVALID_INPUT', { field: 'host', reason: 'missing' });
    if (!deps.addresses.hosts.has(host)) return refuse('FORBIDDEN_HOST');
    // 3: it was not sent by a page of somebody else.
    if (!fromOurselves(headers, host, head.method, deps.addresses)) return refuse('FORBIDDEN_ORIGIN');
    // 4: it exists.
    const path = head.target.split('?', 1)[0] ?? head.target;
    const route = deps.match(head.method, path);
    if (route === null) return refuse('NOT_FOUND');
    if ('allow' in route) return refuse('METHOD_NOT_ALLOWED', {}, { headers: { allow: route.allow.join(', ') } });
    if (route.row.access !== 'public' && !deps.ready()) return refuse('NOT_READY', {}, { headers: { 'retry-after': '1' } });
    // 5: credential. Step 6, scopes, comes with scoped keys.
    let caller: Caller | null = null;
    if (route.row.access === 'key' && deps.needsCredential) {
      caller = deps.authenticate(credentialOf(headers, host), host);
      if (caller === null) return refuse('UNAUTHORIZED', {}, { headers: { 'www-authenticate': 'Bearer' } });
    }
    // 7: caps.
    const busy = deps.busy(route, caller);
    if (busy !== null) {
      const seconds = Math.max(1, Math.ceil(busy.retryAfterSeconds));
      return refuse('TOO_MANY_REQUESTS', { retryAfterSeconds: seconds }, { headers: { 'retry-after': String(seconds) } });
    }
    // 8: content type and stated length; what is not stated is counted while it is read.
    return bodyFault(headers, route) ?? { ok: true, route, host, caller };
  };
}

function refuse(
  code: ConstructorParameters<typeof AppError>[0],
  data: Readonly<Record<string, unknown>> = {},
  more: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): Refusal {
  return { ok: false, error: new AppError(code, data), ...more };
}

/** Lower-case names; null when a header came twice that may not. */
function readHeaders(raw: readonly string[]): Map<string, string> | null {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] ?? '').toLowerCase();
    const value = raw[i + 1] ?? '';
    const before = headers.get(name);
    if (before !== undefined && onlyOnce.has(name)) return null;
    headers.set(name, before === undefined ? value : name === 'cookie' ? `${before}; ${value}` : `${before}, ${value}`);
  }
  return headers;
}

function fromOurselves(headers: ReadonlyMap<string, string>, host: string, method: string, addresses: Addresses): boolean {
  const origin = headers.get('origin');
  if (origin !== undefined && !addresses.originsOf(host).includes(origin)) return false;
  const site = headers.get('sec-fetch-site');
  if (site === 'cross-site') return false;
  // A program on another port of this machine counts as `same-site`, and the browser sends it our strict cookie: it may link here, no more.
  if (site === 'same-site')
    return method === 'GET' && headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document';
  return true;
}

function credentialOf(headers: ReadonlyMap<string, string>, host: string): Credential {
  const authorization = headers.get('authorization');
  if (authorization !== undefined) return { bearer: /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '' };
  const name = cookieName(host);
  const values = (headers.get('cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  // Another server on this machine can set cookies of our name; a few are looked at, not any number.
  return values.length === 0 ? 'none' : { cookies: values.slice(0, 4) };
}

/** Cookies are shared by all ports of a host, so ours carries its port. */
export function cookieName(host: string): string {
  return `sotto_page_${/:(\d+)$/.exec(host)?.[1] ?? '80'}`;
}

function bodyFault(headers: ReadonlyMap<string, string>, route: MatchedRoute): Refusal | null {
  const length = headers.get('content-length');
  const hasBody = headers.has('transfer-encoding') || (length !== undefined && length !== '0');
  const allowed = route.row.body;
  if (allowed === null) return hasBody ? refuse('PAYLOAD_TOO_LARGE', { maxBytes: 0 }) : null;
  const type = (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!allowed.types.includes(type)) return refuse('UNSUPPORTED_MEDIA_TYPE');
  const encoding = headers.get('content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return refuse('UNSUPPORTED_MEDIA_TYPE');
  if (length !== undefined && Number(length) > allowed.maxBytes) return refuse('PAYLOAD_TOO_LARGE', { maxBytes: allowed.maxBytes });
  return null;
}
