import type { PartValidator } from '../../store/downloads.ts';

/** What was asked and what is already here. Sizes are bytes; `null` = not known. */
export type ResumeRequest = {
  readonly partBytes: number;
  readonly expectedBytes: number | null;
  readonly hashKnown: boolean;
  readonly sentRange: boolean;
  readonly sentIfRange: boolean;
  /** The source's own first answer still names the expected hash (DL-09). */
  readonly firstAnswerNamesHash: boolean;
  /** A plain Range was tried after a 200 already. */
  readonly rangeAloneTried: boolean;
};

export type ResumeAnswer = { readonly status: number; readonly contentRange: string | null; readonly encoded: boolean };

export type ResumeDecision =
  | { readonly kind: 'append' }
  /** The body is the whole file: truncate and take it. */
  | { readonly kind: 'fromStart'; readonly restarted: string | null }
  /** The body is of no use: drop the part and ask again without Range. */
  | { readonly kind: 'askAnew'; readonly restarted: string }
  | { readonly kind: 'rangeAlone' }
  | { readonly kind: 'verify' };

/** Table 9.3, row by row. Only for answers 200, 206 and 416; `null` for all others. */
export function decideResume(request: ResumeRequest, answer: ResumeAnswer): ResumeDecision | null {
  const { partBytes, expectedBytes } = request;
  if (answer.status === 206) {
    const range = parseContentRange(answer.contentRange);
    const right =
      request.sentRange &&
      // Without a hash only the tag can tell that these bytes belong to those on disk.
      (request.hashKnown || request.sentIfRange) &&
      !answer.encoded &&
      range !== null &&
      range.start === partBytes &&
      (range.total === null || expectedBytes === null || range.total === expectedBytes);
    return right ? { kind: 'append' } : { kind: 'askAnew', restarted: 'range' };
  }
  if (answer.status === 200) {
    if (!request.sentRange) return { kind: 'fromStart', restarted: null };
    // Content servers may differ in their ETag for the same bytes: ask once with Range alone, the hash decides at the end.
    if (request.sentIfRange && request.hashKnown && request.firstAnswerNamesHash && !request.rangeAloneTried) return { kind: 'rangeAlone' };
    return { kind: 'fromStart', restarted: partBytes > 0 ? 'changed' : null };
  }
  if (answer.status === 416) {
    const total = parseContentRange(answer.contentRange)?.total ?? null;
    const whole = expectedBytes ?? total;
    return whole !== null && partBytes === whole && partBytes > 0 ? { kind: 'verify' } : { kind: 'askAnew', restarted: 'range' };
  }
  return null;
}

/** Whether a part may be continued at all: with neither validator nor expected hash, nothing could tell a mix of two files. */
export function mayResume(validator: PartValidator | null, hashKnown: boolean): boolean {
  return hashKnown || validator !== null;
}

/** The `If-Range` for a host, or `null`: a tag of another host says nothing here. */
export function ifRangeFor(validator: PartValidator | null, host: string): string | null {
  return validator !== null && validator.host === host ? validator.etag : null;
}

/** The strong tag of an answer. Weak tags and dates are no proof of equal bytes (RFC 9110, 13.1.5), so they count as none. */
export function validatorOf(host: string, headers: Readonly<Record<string, string>>): PartValidator | null {
  const etag = headers['etag'];
  return etag !== undefined && /^"[^"]+"$/.test(etag) ? { host, etag } : null;
}

/** `bytes 5-9/10`, `bytes 5-9/*`, and the unsatisfied form with `*` for the range. */
export function parseContentRange(value: string | null): { start: number | null; end: number | null; total: number | null } | null {
  const match = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/.exec(value?.trim() ?? '');
  if (match === null) return null;
  const number = (text: string | undefined) => (text === undefined || text === '*' ? null : Number(text));
  return { start: number(match[1]), end: number(match[2]), total: number(match[3]) };
}
