import { assertNever } from '../../../shared/util/assertNever.ts';
import type { PartValidator, StoredJob } from '../../store/downloads.ts';
import { downloadLimits as limits } from '../limits.ts';

export type JobError = { readonly code: string; readonly data: NonNullable<StoredJob['error']>['data'] };

/** What can happen to a job. `random` (0…1) spreads the back-off; it comes in so that the reducer stays pure. */
export type JobInput =
  | { readonly type: 'slot' }
  | { readonly type: 'opened'; readonly host: string; readonly validator: PartValidator | null; readonly total: number | null }
  | { readonly type: 'progress'; readonly received: number }
  /** The part lost bytes: what is left of it, and why. */
  | { readonly type: 'restart'; readonly reason: string; readonly received: number }
  | { readonly type: 'lastByte'; readonly received: number }
  | { readonly type: 'hashed'; readonly digest: string }
  | { readonly type: 'placed' }
  | { readonly type: 'tried' }
  | { readonly type: 'rejected'; readonly error: JobError }
  | { readonly type: 'wrong'; readonly error: JobError; readonly reason: 'hash' | 'size' }
  | { readonly type: 'failed'; readonly error: JobError; readonly retryAfterMs: number | null; readonly random: number }
  | { readonly type: 'due' }
  | { readonly type: 'stillFull' }
  | { readonly type: 'offline'; readonly on: boolean }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  | { readonly type: 'cancel' }
  | { readonly type: 'processStart' };

/** What the runner has to do. `save` writes the row; `dropPart` and `setAside` happen before a new `begin`. */
export type JobEffect = 'save' | 'begin' | 'stop' | 'dropPart' | 'setAside';

export type JobStep = { readonly state: StoredJob; readonly effects: readonly JobEffect[] };

const unfinished = new Set<StoredJob['phase']>(['queued', 'waiting', 'downloading', 'paused', 'verifying']);

export function isUnfinished(job: Pick<StoredJob, 'phase'>): boolean {
  return unfinished.has(job.phase);
}

/**
 * The phase table of the models page, 9.1. An input that makes no sense in a phase changes nothing: results of a transfer that was
 * stopped may still arrive.
 *
 * @param now  wall clock, ms.
 */
export function reduceJob(job: StoredJob, input: JobInput, now: number): JobStep {
  switch (input.type) {
    case 'slot':
      return job.phase === 'queued'
        ? to(job, now, { phase: 'downloading', attempts: job.attempts + 1, waitingFor: null, nextTryAtMs: null }, 'save', 'begin')
        : same(job);
    case 'opened':
      return job.phase === 'downloading'
        ? to(job, now, { host: input.host, validator: input.validator, total: job.total ?? input.total, error: null }, 'save')
        : same(job);
    case 'progress':
      return job.phase === 'downloading' ? progressed(job, input.received, now) : same(job);
    case 'restart':
      return job.phase === 'downloading' || job.phase === 'verifying' ? restarted(job, input, now) : same(job);
    case 'lastByte':
      return job.phase === 'downloading' ? to(job, now, { phase: 'verifying', received: input.received, error: null }, 'save') : same(job);
    case 'hashed':
      return job.phase === 'verifying' ? to(job, now, { digest: input.digest }, 'save') : same(job);
    case 'placed':
      return job.phase === 'verifying' ? to(job, now, { placed: true, resumable: false }, 'save') : same(job);
    case 'tried':
      return job.phase === 'verifying'
        ? to(job, now, { phase: 'installed', error: null, total: job.total ?? job.received }, 'save')
        : same(job);
    case 'rejected':
      return job.phase === 'verifying' ? failed(job, input.error, now) : same(job);
    case 'wrong':
      return job.phase === 'verifying' || job.phase === 'downloading' ? wrongBytes(job, input, now) : same(job);
    case 'failed':
      return job.phase === 'downloading' || job.phase === 'verifying' ? afterFailure(job, input, now) : same(job);
    case 'due':
      return job.phase === 'waiting' ? to(job, now, queued, 'save') : same(job);
    case 'stillFull':
      return job.phase === 'waiting' && job.waitingFor === 'disk'
        ? to(job, now, { nextTryAtMs: now + limits.diskLookEveryMs }, 'save')
        : same(job);
    case 'offline':
      return offline(job, input.on, now);
    case 'pause':
      return isUnfinished(job) && job.phase !== 'paused'
        ? to(job, now, { phase: 'paused', waitingFor: null, nextTryAtMs: null }, 'stop', 'save')
        : same(job);
    case 'resume':
      return resume(job, now);
    case 'cancel':
      return isUnfinished(job) || job.phase === 'failed'
        ? to(job, now, { phase: 'cancelled', waitingFor: null, nextTryAtMs: null }, 'stop', 'save')
        : same(job);
    case 'processStart':
      return isUnfinished(job) && job.phase !== 'paused' ? to(job, now, queued, 'save') : same(job);
    default:
      return assertNever(input);
  }
}

const queued = { phase: 'queued', waitingFor: null, nextTryAtMs: null } as const;

function same(state: StoredJob): JobStep {
  return { state, effects: [] };
}

function to(job: StoredJob, now: number, change: Partial<StoredJob>, ...effects: JobEffect[]): JobStep {
  return { state: { ...job, ...change, updatedAtMs: now }, effects };
}

function progressed(job: StoredJob, received: number, now: number): JobStep {
  // DL-18: it never falls but with a reason, which is the input `restart`.
  const change: Partial<StoredJob> = { received: Math.max(job.received, received) };
  if (received - job.progressMark >= limits.triesResetBytes) {
    change.tries = 0;
    change.failingSinceMs = null;
    change.progressMark = received;
  }
  // The row is written each 2 s only: after a crash the file's real size wins (DL-07).
  if (now - job.updatedAtMs < limits.rowUpdateMs) return { state: { ...job, ...change }, effects: [] };
  return to(job, now, change, 'save');
}

function restarted(job: StoredJob, { reason, received }: Extract<JobInput, { type: 'restart' }>, now: number): JobStep {
  const validator = received === 0 ? null : job.validator;
  return to(job, now, { received, progressMark: Math.min(job.progressMark, received), validator, restarted: reason }, 'save');
}

/** First time: start over, from the next source if there is one. Second time: the bytes are set aside and never used again. */
function wrongBytes(job: StoredJob, input: Extract<JobInput, { type: 'wrong' }>, now: number): JobStep {
  if (job.wrongBytes > 0) {
    return to(
      job,
      now,
      {
        phase: 'failed',
        error: input.error,
        wrongBytes: job.wrongBytes + 1,
        received: 0,
        validator: null,
        resumable: false,
        placed: false,
        digest: null,
      },
      'stop',
      'setAside',
      'save',
    );
  }
  return to(
    job,
    now,
    {
      phase: 'downloading',
      wrongBytes: 1,
      received: 0,
      progressMark: 0,
      validator: null,
      restarted: input.reason,
      route: (job.route + 1) % job.routes,
      placed: false,
      digest: null,
    },
    'dropPart',
    'save',
    'begin',
  );
}

function afterFailure(job: StoredJob, input: Extract<JobInput, { type: 'failed' }>, now: number): JobStep {
  const { error } = input;
  switch (classOf(error)) {
    case 'source':
      return nextRoute(job, error, now) ?? failed(job, error, now);
    case 'notModel': {
      const next = nextRoute(job, error, now);
      if (next !== null) return next;
      if (job.notModel > 0) return failed(job, error, now);
      // A captive portal answers like this; one more try when the network may have changed (DL-12).
      return wait(job, 'network', now + limits.slowRetryMs, error, now, { notModel: job.notModel + 1 });
    }
    case 'disk':
      return wait(job, 'disk', now + limits.diskLookEveryMs, error, now);
    case 'offline':
      return wait(job, 'policy', null, null, now);
    case 'network':
      return backOff(job, input, now);
    case 'package':
      if (job.tries + 1 < limits.packageTries) return nextRoute(job, error, now) ?? backOff(job, input, now);
      return nextRoute(job, error, now) ?? failed(job, error, now);
    case 'final':
      return failed(job, error, now);
  }
}

type FailureClass = 'source' | 'notModel' | 'disk' | 'offline' | 'network' | 'package' | 'final';

function classOf(error: JobError): FailureClass {
  switch (error.code) {
    case 'NO_NETWORK':
    case 'DOWNLOAD_STALLED':
      return 'network';
    case 'DOWNLOAD_HTTP': {
      const status = Number(error.data['status']);
      return status >= 500 || status === 408 || status === 429 ? 'network' : 'source';
    }
    case 'SOURCE_FILE_MISSING':
    case 'HUB_GATED_REPO':
    case 'DOWNLOAD_INSECURE_REDIRECT':
    case 'DOWNLOAD_TOO_MANY_REDIRECTS':
    case 'PACKAGE_CLIENT_MISSING':
    case 'ARCHIVE_UNSAFE_MEMBER':
    case 'ARCHIVE_TOO_LARGE':
      return 'source';
    case 'PACKAGE_FETCH_FAILED':
      return 'package';
    case 'DOWNLOAD_NOT_A_MODEL':
      return 'notModel';
    case 'DISK_FULL':
      return 'disk';
    case 'OFFLINE':
      return 'offline';
    default:
      return 'final';
  }
}

/** The next mirror or source takes over at once; its tries count from 0. */
function nextRoute(job: StoredJob, error: JobError, now: number): JobStep | null {
  if (job.route + 1 >= job.routes) return null;
  return to(job, now, { ...queued, route: job.route + 1, tries: 0, failingSinceMs: null, error }, 'save');
}

function failed(job: StoredJob, error: JobError, now: number): JobStep {
  return to(job, now, { phase: 'failed', error, waitingFor: null, nextTryAtMs: null, resumable: !job.placed }, 'stop', 'save');
}

function wait(
  job: StoredJob,
  waitingFor: NonNullable<StoredJob['waitingFor']>,
  nextTryAtMs: number | null,
  error: JobError | null,
  now: number,
  more: Partial<StoredJob> = {},
): JobStep {
  return to(job, now, { phase: 'waiting', waitingFor, nextTryAtMs, error, ...more }, 'stop', 'save');
}

/** 9.5: 1, 2, 4 … 60 s ± 20 %, eight times; then each 5 min as "no network", for 24 h; then it ends. */
function backOff(job: StoredJob, input: Extract<JobInput, { type: 'failed' }>, now: number): JobStep {
  const failingSinceMs = job.failingSinceMs ?? now;
  const tries = job.tries + 1;
  const more = { tries, failingSinceMs };
  if (now - failingSinceMs >= limits.giveUpAfterMs) return nextRoute(job, input.error, now) ?? failed(job, input.error, now);
  if (input.retryAfterMs !== null) {
    // A wait that long is the person's to decide: without a time it waits for "now".
    const at = input.retryAfterMs > limits.retryAfterAsksMs ? null : now + input.retryAfterMs;
    return wait(job, 'retry', at, input.error, now, more);
  }
  if (tries <= limits.fastTries) {
    const base = Math.min(limits.backoffFirstMs * 2 ** (tries - 1), limits.backoffMaxMs);
    const spread = 1 + limits.backoffSpread * (2 * input.random - 1);
    return wait(job, 'retry', now + Math.round(base * spread), input.error, now, more);
  }
  return nextRoute(job, input.error, now) ?? wait(job, 'network', now + limits.slowRetryMs, input.error, now, more);
}

function offline(job: StoredJob, on: boolean, now: number): JobStep {
  if (on && (job.phase === 'queued' || job.phase === 'downloading' || (job.phase === 'waiting' && job.waitingFor !== 'policy'))) {
    return wait(job, 'policy', null, null, now);
  }
  if (!on && job.phase === 'waiting' && job.waitingFor === 'policy') return to(job, now, queued, 'save');
  return same(job);
}

/** A click by the person wins over every back-off, and a finished failure begins with a clean slate. */
function resume(job: StoredJob, now: number): JobStep {
  if (job.phase === 'paused' || job.phase === 'waiting') {
    return to(job, now, { ...queued, tries: 0, failingSinceMs: null }, 'save');
  }
  if (job.phase === 'failed' || job.phase === 'cancelled') {
    return to(
      job,
      now,
      { ...queued, tries: 0, failingSinceMs: null, wrongBytes: 0, notModel: 0, route: 0, error: null, restarted: null, resumable: true },
      'save',
    );
  }
  return same(job);
}
