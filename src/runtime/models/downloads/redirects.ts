import { AppError } from '../../../shared/errors/appError.ts';
import type { Fetch, OutboundResponse } from '../../platform/ports.ts';
import { downloadLimits as limits } from '../limits.ts';

export type Arrived = {
  readonly response: OutboundResponse;
  /** Headers of the source's own answer: only it can say what the file is (DL-09). */
  readonly firstHeaders: Readonly<Record<string, string>>;
  readonly redirected: boolean;
};

/**
 * Asks the source and goes where it points (DL-08, DL-11). No login is ever sent, so there is none to drop on another host.
 *
 * @param headersFor  headers for one hop, by its host.
 * @throws AppError DOWNLOAD_INSECURE_REDIRECT, DOWNLOAD_TOO_MANY_REDIRECTS, and what `Fetch` throws.
 */
export async function follow(
  fetch: Fetch,
  source: string,
  options: { asker: string; signal: AbortSignal; headersFor: (host: string) => Record<string, string> },
): Promise<Arrived> {
  const seen = new Set<string>();
  let url = new URL(source);
  let firstHeaders: Readonly<Record<string, string>> | null = null;
  for (let hops = 0; ; hops++) {
    if (hops > limits.redirects || seen.has(url.href)) throw new AppError('DOWNLOAD_TOO_MANY_REDIRECTS');
    seen.add(url.href);
    const response = await fetch.open({
      url: url.href,
      reason: 'model_download',
      asker: options.asker,
      headers: options.headersFor(url.host),
      signal: options.signal,
      connectTimeoutMs: limits.connectMs,
      firstByteTimeoutMs: limits.firstByteMs,
    });
    firstHeaders ??= response.headers;
    if (![301, 302, 303, 307, 308].includes(response.status)) return { response, firstHeaders, redirected: hops > 0 };
    const location = response.headers['location'];
    await discard(response);
    if (location === undefined || !URL.canParse(location, url.href)) throw new AppError('DOWNLOAD_HTTP', { status: response.status });
    const next = new URL(location, url);
    // Never from https to anything weaker; http stays http only where the source itself was http (loopback, development).
    if (next.protocol !== 'https:' && (next.protocol !== 'http:' || url.protocol !== 'http:')) {
      throw new AppError('DOWNLOAD_INSECURE_REDIRECT');
    }
    url = next;
  }
}

/** Closes an answer whose body nobody wants. */
export async function discard(response: OutboundResponse): Promise<void> {
  const body = response.body[Symbol.asyncIterator]();
  await body.return?.(undefined);
}
