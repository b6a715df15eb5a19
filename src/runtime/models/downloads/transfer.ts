import { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { AppError, isAppError } from '../../../shared/errors/appError.ts';
import { crashPoint } from '../../../shared/util/crashPoint.ts';
import type { Clock, Fetch, OutboundResponse } from '../../platform/ports.ts';
import type { PartValidator } from '../../store/downloads.ts';
import { downloadLimits as limits } from '../limits.ts';
import { firstLine, isNotAModel, peekBytes } from './firstBytes.ts';
import type { Part } from './part.ts';
import { discard, follow } from './redirects.ts';
import { decideResume, ifRangeFor, mayResume, parseContentRange, validatorOf } from './resume.ts';
import { retryAfterMs } from './retryAfter.ts';
import { type Verdict, watchTransfer } from './watchdog.ts';

export type TransferRequest = {
  readonly url: string;
  readonly asker: string;
  readonly part: Part;
  readonly fileName: string;
  readonly expectedBytes: number | null;
  /** Expected hash; `null` = none is trusted. */
  readonly sha256: string | null;
  readonly validator: PartValidator | null;
  readonly signal: AbortSignal;
  /** @throws AppError DISK_FULL when the floor is reached (DL-05). */
  readonly checkDisk: () => Promise<void>;
  readonly events: {
    opened(host: string, validator: PartValidator | null, total: number | null): void;
    progress(received: number, bytesNow: number): void;
    restart(reason: string): void;
  };
};

/**
 * Brings a part to its full length over HTTP: one attempt, with everything in it that is no failure (redirects, fresh links,
 * the answers of table 9.3, waking from sleep). Returns when the last byte is on disk; the bytes are not proven yet.
 *
 * @throws AppError NO_NETWORK, DOWNLOAD_STALLED, DOWNLOAD_HTTP, SOURCE_FILE_MISSING, HUB_GATED_REPO, DOWNLOAD_NOT_A_MODEL,
 *   DOWNLOAD_SIZE_MISMATCH, DOWNLOAD_INSECURE_REDIRECT, DOWNLOAD_TOO_MANY_REDIRECTS, DISK_FULL, STORE_IO, OFFLINE, CANCELLED.
 */
export async function transfer(deps: { fetch: Fetch; clock: Clock }, request: TransferRequest): Promise<void> {
  const { part, expectedBytes, events } = request;
  const hashKnown = request.sha256 !== null;
  let validator = request.validator;
  let rangeAlone = false;
  let askedAnew = false;
  let expiredLinks = 0;

  const startOver = async (reason: string) => {
    await part.restart();
    validator = null;
    events.restart(reason);
  };

  for (;;) {
    if (request.signal.aborted) throw new AppError('CANCELLED');
    if (part.bytes() > 0 && !mayResume(validator, hashKnown)) await startOver('unprovable');
    if (expectedBytes !== null && part.bytes() > expectedBytes) await startOver('size');
    if (part.bytes() > 0 && part.bytes() === expectedBytes) return;

    const from = part.bytes();
    const sentIfRange = { value: false };
    const cut = new AbortController();
    const stop = () => cut.abort();
    request.signal.addEventListener('abort', stop, { once: true });
    using _ = { [Symbol.dispose]: () => request.signal.removeEventListener('abort', stop) };
    const { response, firstHeaders, redirected } = await follow(deps.fetch, request.url, {
      asker: request.asker,
      signal: cut.signal,
      headersFor(host) {
        const ifRange = rangeAlone ? null : ifRangeFor(validator, host);
        sentIfRange.value = from > 0 && ifRange !== null;
        return from === 0 ? {} : { range: `bytes=${from}-`, ...(ifRange === null ? {} : { 'if-range': ifRange }) };
      },
    });

    if (redirected && (response.status === 401 || response.status === 403) && expiredLinks < limits.expiredLinksInARow) {
      // A signed link that ran out: the source gives a fresh one (DL-08).
      expiredLinks += 1;
      await discard(response);
      continue;
    }
    const encoding = contentEncoding(response);
    const decision = decideResume(
      {
        partBytes: from,
        expectedBytes,
        hashKnown,
        sentRange: from > 0,
        sentIfRange: sentIfRange.value,
        firstAnswerNamesHash: namesHash(firstHeaders, request.sha256),
        rangeAloneTried: rangeAlone,
      },
      { status: response.status, contentRange: response.headers['content-range'] ?? null, encoded: encoding !== null },
    );
    if (decision === null) {
      await discard(response);
      throw httpError(response, redirected, deps.clock.nowMs());
    }
    switch (decision.kind) {
      case 'verify':
        await discard(response);
        return;
      case 'rangeAlone':
        await discard(response);
        rangeAlone = true;
        continue;
      case 'askAnew':
        await discard(response);
        if (askedAnew) throw new AppError('DOWNLOAD_HTTP', { status: response.status });
        askedAnew = true;
        await startOver(decision.restarted);
        continue;
      case 'fromStart':
        if (from > 0) await startOver(decision.restarted ?? 'changed');
        break;
      case 'append':
        break;
    }
    validator = encoding === null ? validatorOf(response.host, response.headers) : null;
    const total = totalOf(response, encoding !== null);
    events.opened(response.host, validator, total);
    const end = await receive(deps, request, { response, encoding, total, appended: decision.kind === 'append', cut: stop });
    if (end === 'whole') return;
    expiredLinks = 0;
  }
}

/** Takes one body. `again` = go back to the source at once, which is no failure. */
async function receive(
  deps: { clock: Clock },
  request: TransferRequest,
  answer: { response: OutboundResponse; encoding: Encoding | null; total: number | null; appended: boolean; cut: () => void },
): Promise<'whole' | 'again'> {
  const { part, expectedBytes, events } = request;
  const { response, encoding, total, appended } = answer;
  const startedAt = part.bytes();
  let verdict: Verdict | null = null;
  const body = response.body[Symbol.asyncIterator]();
  const watch = watchTransfer(deps.clock, (said) => {
    verdict = said;
    answer.cut();
  });
  let looked = startedAt;
  try {
    const arriving = counted(body, (count) => watch.bytes(count));
    const chunks = startedAt === 0 ? checked(decoded(arriving, encoding), response, request, total) : decoded(arriving, encoding);
    for await (const chunk of chunks) {
      if (request.signal.aborted) throw new AppError('CANCELLED');
      if (expectedBytes !== null && part.bytes() + chunk.length > expectedBytes) {
        throw sizeMismatch(request, expectedBytes, part.bytes() + chunk.length);
      }
      await part.append(chunk);
      events.progress(part.written(), chunk.length);
      if (part.bytes() - looked >= limits.diskLookEveryBytes) {
        looked = part.bytes();
        await request.checkDisk();
      }
    }
    if (verdict !== null) throw new AppError('NO_NETWORK');
  } catch (error) {
    await part.flush();
    events.progress(part.written(), 0);
    if (request.signal.aborted) throw new AppError('CANCELLED');
    if (verdict === 'woke') return 'again';
    if (verdict !== null) throw new AppError('DOWNLOAD_STALLED', {}, { message: verdict });
    // A line that drops now and then, but moves: go on at once instead of calling it a failure.
    if (isAppError(error, 'NO_NETWORK') && part.bytes() - startedAt >= limits.triesResetBytes) return 'again';
    throw error;
  } finally {
    watch.stop();
    await body.return?.(undefined);
  }
  await part.flush();
  crashPoint('download.lastByte');
  if (expectedBytes === null || part.bytes() === expectedBytes) return 'whole';
  // A server may answer a Range with less than all of it; ask for the rest. A whole answer that ends early is a lie.
  if (appended && part.bytes() > startedAt) return 'again';
  throw sizeMismatch(request, expectedBytes, part.bytes());
}

/** Holds the first bytes back until they are seen to be no page and no message, and the stated length to be right. */
async function* checked(
  chunks: AsyncIterable<Uint8Array>,
  response: OutboundResponse,
  request: TransferRequest,
  total: number | null,
): AsyncGenerator<Uint8Array, void, void> {
  let head: Uint8Array = new Uint8Array(0);
  let passed = false;
  const judge = () => {
    passed = true;
    if (isNotAModel(head, response.headers['content-type'])) {
      throw new AppError('DOWNLOAD_NOT_A_MODEL', { firstLine: firstLine(head) });
    }
    if (request.expectedBytes !== null && total !== null && total !== request.expectedBytes) {
      throw sizeMismatch(request, request.expectedBytes, total);
    }
  };
  for await (const chunk of chunks) {
    if (passed) {
      yield chunk;
      continue;
    }
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    if (head.length < peekBytes && head.length !== request.expectedBytes) continue;
    judge();
    yield head;
  }
  if (passed) return;
  judge();
  yield head;
}

async function* counted(body: AsyncIterator<Uint8Array>, count: (bytes: number) => void): AsyncGenerator<Uint8Array, void, void> {
  for (;;) {
    const next = await body.next();
    if (next.done === true) return;
    count(next.value.length);
    yield next.value;
  }
}

type Encoding = 'gzip' | 'deflate' | 'br';

/** @throws AppError DOWNLOAD_HTTP for a coding that we neither asked for nor know. */
function contentEncoding(response: OutboundResponse): Encoding | null {
  const coding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (coding === '' || coding === 'identity') return null;
  if (coding === 'gzip' || coding === 'x-gzip') return 'gzip';
  if (coding === 'deflate' || coding === 'br') return coding;
  throw new AppError('DOWNLOAD_HTTP', { status: response.status });
}

/** Some servers compress although they were asked not to; what counts are the decoded bytes (DL-13). */
async function* decoded(body: AsyncIterable<Uint8Array>, encoding: Encoding | null): AsyncGenerator<Uint8Array, void, void> {
  if (encoding === null) {
    yield* body;
    return;
  }
  const decoder = encoding === 'gzip' ? createGunzip() : encoding === 'deflate' ? createInflate() : createBrotliDecompress();
  const source = Readable.from(body, { objectMode: false });
  source.once('error', (error) => decoder.destroy(error));
  try {
    yield* source.pipe(decoder) as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('NO_NETWORK', {}, { message: 'compressed body broken off', cause: error });
  } finally {
    source.destroy();
    decoder.destroy();
  }
}

function totalOf(response: OutboundResponse, encoded: boolean): number | null {
  if (response.status === 206) return parseContentRange(response.headers['content-range'] ?? null)?.total ?? null;
  const length = response.headers['content-length'];
  return encoded || length === undefined || !/^\d+$/.test(length) ? null : Number(length);
}

/** The source's own first answer still names the bytes that we expect: hubs give a file's SHA-256 as its tag (DL-09). */
function namesHash(first: Readonly<Record<string, string>>, sha256: string | null): boolean {
  const tag = first['x-linked-etag'] ?? first['etag'];
  return sha256 !== null && tag !== undefined && tag.replace(/^W\//, '').replaceAll('"', '').toLowerCase() === sha256;
}

function sizeMismatch(request: TransferRequest, expected: number, actual: number): AppError {
  return new AppError('DOWNLOAD_SIZE_MISMATCH', { file: request.fileName, expected, actual });
}

function httpError(response: OutboundResponse, redirected: boolean, nowMs: number): AppError {
  const { status } = response;
  if (status === 404 || status === 410) return new AppError('SOURCE_FILE_MISSING');
  if ((status === 401 || status === 403) && !redirected) return new AppError('HUB_GATED_REPO');
  const wait = status === 429 || status === 503 ? retryAfterMs(response.headers['retry-after'], nowMs) : null;
  return new AppError('DOWNLOAD_HTTP', wait === null ? { status } : { status, retryAfterMs: wait });
}
