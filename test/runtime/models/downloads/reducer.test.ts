import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newJob } from '../../../../src/runtime/models/downloads/jobs.ts';
import { isUnfinished, type JobInput, reduceJob } from '../../../../src/runtime/models/downloads/reducer.ts';
import { downloadLimits as limits } from '../../../../src/runtime/models/limits.ts';
import { StoredJob } from '../../../../src/runtime/store/downloads.ts';
import { modelId } from '../harness.ts';

const mb = 1024 * 1024;
const fresh = (routes = 1) => newJob(modelId, 100 * mb, routes, 1000);
const error = (code: string, data: Record<string, string | number> = {}) => ({ code, data });
const failed = (code: string, data: Record<string, string | number> = {}): JobInput => ({
  type: 'failed',
  error: error(code, data),
  retryAfterMs: null,
  random: 0.5,
});

/** Runs inputs one second apart. */
function play(start: StoredJob, ...inputs: JobInput[]): { state: StoredJob; effects: string[] } {
  let state = start;
  const effects: string[] = [];
  for (const [i, input] of inputs.entries()) {
    const step = reduceJob(state, input, 2000 + i * 1000);
    state = step.state;
    effects.push(...step.effects);
  }
  return { state, effects };
}

const slot: JobInput = { type: 'slot' };
const whole: JobInput = { type: 'lastByte', received: 100 * mb };

describe('the phase table (9.1)', () => {
  it('the straight way: queued, downloading, verifying, installed', () => {
    const phases: string[] = [];
    let state: StoredJob = fresh();
    for (const input of [slot, whole, { type: 'hashed', digest: 'ab' }, { type: 'placed' }, { type: 'tried' }] as JobInput[]) {
      ({ state } = reduceJob(state, input, 5000));
      phases.push(state.phase);
    }
    expect(phases).toEqual(['downloading', 'verifying', 'verifying', 'verifying', 'installed']);
  });

  it('wrong bytes once start over from the next source; wrong twice is the end', () => {
    const wrong: JobInput = { type: 'wrong', error: error('DOWNLOAD_HASH_MISMATCH'), reason: 'hash' };
    const once = play(fresh(2), slot, whole, wrong);
    expect(once.state).toMatchObject({ phase: 'downloading', received: 0, restarted: 'hash', route: 1, wrongBytes: 1 });
    expect(once.effects.slice(-3)).toEqual(['dropPart', 'save', 'begin']);
    const twice = play(once.state, whole, wrong);
    expect(twice.state).toMatchObject({ phase: 'failed', resumable: false, error: { code: 'DOWNLOAD_HASH_MISMATCH' } });
    expect(twice.effects).toContain('setAside');
  });

  it('each failure goes where the code table says', () => {
    const after = (input: JobInput, routes = 1) => play(fresh(routes), slot, input).state;
    expect(after(failed('NO_NETWORK'))).toMatchObject({ phase: 'waiting', waitingFor: 'retry', nextTryAtMs: 4000, tries: 1 });
    expect(after(failed('DISK_FULL'))).toMatchObject({ phase: 'waiting', waitingFor: 'disk', nextTryAtMs: 3000 + 30_000 });
    expect(after(failed('OFFLINE'))).toMatchObject({ phase: 'waiting', waitingFor: 'policy', nextTryAtMs: null, error: null });
    expect(after(failed('STORE_IO'))).toMatchObject({ phase: 'failed', resumable: true });
    expect(after(failed('INTERNAL'))).toMatchObject({ phase: 'failed' });
    expect(after(failed('DOWNLOAD_HTTP', { status: 418 }))).toMatchObject({ phase: 'failed' });
    for (const code of [
      'SOURCE_FILE_MISSING',
      'HUB_GATED_REPO',
      'PACKAGE_CLIENT_MISSING',
      'PACKAGE_FETCH_FAILED',
      'ARCHIVE_UNSAFE_MEMBER',
    ]) {
      expect(after(failed(code), 2)).toMatchObject({ phase: 'queued', route: 1, tries: 0 });
    }
    expect(after(failed('PACKAGE_CLIENT_MISSING'))).toMatchObject({ phase: 'failed', error: { code: 'PACKAGE_CLIENT_MISSING' } });
  });

  it('a package client that fails with no other source is tried three times', () => {
    const fail = failed('PACKAGE_FETCH_FAILED');
    expect(play(fresh(), slot, fail).state.phase).toBe('waiting');
    expect(play(fresh(), slot, fail, { type: 'due' }, slot, fail).state.phase).toBe('waiting');
    expect(play(fresh(), slot, fail, { type: 'due' }, slot, fail, { type: 'due' }, slot, fail).state.phase).toBe('failed');
  });

  it('tries count anew after 5 MB of progress (DL-16)', () => {
    const before = play(fresh(), slot, failed('NO_NETWORK'), { type: 'due' }, slot).state;
    expect(before.tries).toBe(1);
    expect(play(before, { type: 'progress', received: 4 * mb }).state.tries).toBe(1);
    expect(play(before, { type: 'progress', received: 5 * mb }).state).toMatchObject({ tries: 0, failingSinceMs: null });
  });

  it('network failures end an unattended job after 24 h, not before (DL-16)', () => {
    let state: StoredJob = fresh();
    let now = 1000;
    let hours = 0;
    while (state.phase !== 'failed' && hours < 30) {
      ({ state } = reduceJob(state, slot, now));
      ({ state } = reduceJob(state, failed('NO_NETWORK'), now));
      if (state.phase === 'waiting') {
        now = state.nextTryAtMs ?? now;
        ({ state } = reduceJob(state, { type: 'due' }, now));
      }
      hours = (now - 1000) / 3_600_000;
    }
    expect(hours).toBeGreaterThanOrEqual(24);
    expect(hours).toBeLessThan(24.2);
    expect(state.error?.code).toBe('NO_NETWORK');
  });

  it('the back-off is spread by 20 % either way', () => {
    const at = (random: number) => {
      const { state } = reduceJob(play(fresh(), slot).state, { type: 'failed', error: error('NO_NETWORK'), retryAfterMs: null, random }, 0);
      return state.nextTryAtMs;
    };
    expect([at(0), at(0.5), at(1)]).toEqual([800, 1000, 1200]);
  });

  it('a process start puts everything unfinished but paused jobs back to the queue', () => {
    const states = {
      queued: play(fresh()).state,
      downloading: play(fresh(), slot).state,
      verifying: play(fresh(), slot, whole).state,
      waiting: play(fresh(), slot, failed('NO_NETWORK')).state,
      paused: play(fresh(), { type: 'pause' }).state,
      failed: play(fresh(), slot, failed('STORE_IO')).state,
      cancelled: play(fresh(), { type: 'cancel' }).state,
      installed: play(fresh(), slot, whole, { type: 'tried' }).state,
    };
    const after = Object.fromEntries(
      Object.entries(states).map(([name, state]) => [name, reduceJob(state, { type: 'processStart' }, 9000).state.phase]),
    );
    expect(after).toEqual({
      queued: 'queued',
      downloading: 'queued',
      verifying: 'queued',
      waiting: 'queued',
      paused: 'paused',
      failed: 'failed',
      cancelled: 'cancelled',
      installed: 'installed',
    });
  });

  it('a rejected trial is final and keeps the file; a new start goes to the trial again', () => {
    const rejected = play(fresh(), slot, whole, { type: 'placed' }, { type: 'rejected', error: error('ENGINE_CRASHED') });
    expect(rejected.state).toMatchObject({ phase: 'failed', placed: true, resumable: false });
    expect(play(rejected.state, { type: 'resume' }).state).toMatchObject({ phase: 'queued', placed: true, error: null });
  });
});

const anyInput: fc.Arbitrary<JobInput> = fc.oneof(
  fc.constantFrom<JobInput>(
    slot,
    whole,
    { type: 'opened', host: 'h', validator: null, total: 100 * mb },
    { type: 'hashed', digest: 'ab' },
    { type: 'placed' },
    { type: 'tried' },
    { type: 'rejected', error: error('ENGINE_CRASHED') },
    { type: 'wrong', error: error('DOWNLOAD_HASH_MISMATCH'), reason: 'hash' },
    { type: 'due' },
    { type: 'stillFull' },
    { type: 'pause' },
    { type: 'resume' },
    { type: 'cancel' },
    { type: 'processStart' },
  ),
  fc.boolean().map((on): JobInput => ({ type: 'offline', on })),
  fc.integer({ min: 0, max: 100 * mb }).map((received): JobInput => ({ type: 'progress', received })),
  fc.integer({ min: 0, max: mb }).map((received): JobInput => ({ type: 'restart', reason: 'changed', received })),
  fc
    .record({
      code: fc.constantFrom('NO_NETWORK', 'DISK_FULL', 'DOWNLOAD_NOT_A_MODEL', 'SOURCE_FILE_MISSING', 'STORE_IO', 'PACKAGE_FETCH_FAILED'),
      retryAfterMs: fc.option(fc.integer({ min: 0, max: 4_000_000 })),
      random: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(({ code, retryAfterMs, random }): JobInput => ({ type: 'failed', error: error(code), retryAfterMs, random })),
);

describe('whatever happens in whatever order', () => {
  it('the row stays readable, final phases stay final, and progress falls only with a reason', () => {
    fc.assert(
      fc.property(fc.array(anyInput, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (inputs, routes) => {
        let state: StoredJob = fresh(routes);
        for (const [i, input] of inputs.entries()) {
          const before = state;
          const step = reduceJob(before, input, 1000 + i * 700);
          ({ state } = step);
          StoredJob.parse(state);
          if (state === before) expect(step.effects).toEqual([]);
          // A changed phase always reaches the row.
          if (state.phase !== before.phase) expect(step.effects).toContain('save');
          if (state.phase === 'waiting') expect(state.waitingFor).not.toBeNull();
          else expect([state.waitingFor, state.nextTryAtMs]).toEqual([null, null]);
          if (state.received < before.received)
            expect(input.type === 'restart' || input.type === 'wrong' || input.type === 'lastByte').toBe(true);
          if (before.phase === 'installed') expect(state).toBe(before);
          if (!isUnfinished(before) && isUnfinished(state)) expect(input.type).toBe('resume');
          // Success and failure are never both said of one job (DL-24).
          if (state.phase === 'installed') expect(state.error).toBeNull();
          if (state.phase === 'failed') expect(state.error).not.toBeNull();
          if (state.nextTryAtMs !== null && state !== before)
            expect(state.nextTryAtMs).toBeLessThanOrEqual(1000 + i * 700 + limits.retryAfterAsksMs);
          expect(state.route).toBeLessThan(state.routes);
        }
      }),
      { numRuns: 500 },
    );
  });
});
