import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Trial } from '../../../../src/runtime/models/ports.ts';
import { createFiles, type Files } from '../../../../src/runtime/platform/files.ts';
import { AppError } from '../../../../src/shared/errors/appError.ts';
import { deferred } from '../../../../src/shared/util/deferred.ts';
import { createFakeClock } from '../../../helpers/fakeClock.ts';
import { etagOf, faultServer } from '../../../helpers/faultServer.ts';
import { tinyGguf } from '../../../helpers/ggufBytes.ts';
import { verifies } from '../../../helpers/verifies.ts';
import { createHarness, modelId, sha256, targetOf, untilTrue } from '../harness.ts';

// Loopback and real files on a machine that may be busy: a wait is bounded by its state, not by the default of 5 s.
vi.setConfig({ testTimeout: 30_000 });

const model = tinyGguf({ data: 400_000 });

describe('a download', () => {
  it('ends as a listed, proven model with the right bytes and nothing left in the parts folder', async () => {
    await using server = await faultServer([{ path: '/m.gguf', body: model }]);
    await using rt = createHarness({ targets: [targetOf(model, [server.url('/m.gguf')])] });
    const { jobId, joined } = await rt.downloads.start(modelId);
    const job = await rt.until(jobId, 'installed', 'failed');
    expect(joined).toBe(false);
    expect(job).toMatchObject({
      phase: 'installed',
      received: model.length,
      total: model.length,
      error: null,
      bytesPerSec: 0,
      etaMs: null,
    });
    expect(sha256(readFileSync(rt.modelPath()))).toBe(sha256(model));
    expect(rt.registry.list()).toMatchObject([{ id: modelId, state: 'proven', bytes: model.length, sha256: sha256(model) }]);
    expect(await rt.registry.path(modelId)).toBe(rt.modelPath());
    expect(readdirSync(rt.parts)).toEqual([]);
  });

  it('DL-01: twenty starts in one tick make one job, one part and one request', async () => {
    verifies('DL-01');
    await using server = await faultServer([{ path: '/m.gguf', body: model, bytesPerSecond: 2_000_000 }]);
    await using rt = createHarness({ targets: [targetOf(model, [server.url('/m.gguf')])] });
    const starts = await Promise.all(Array.from({ length: 20 }, () => rt.downloads.start(modelId)));
    expect(new Set(starts.map((start) => start.jobId)).size).toBe(1);
    expect(starts.filter((start) => !start.joined)).toHaveLength(1);
    const jobId = starts[0]?.jobId ?? ('' as never);
    await untilTrue(
      () => existsSync(rt.partPath(jobId)),
      () => 'a part',
    );
    expect(readdirSync(rt.parts)).toEqual([jobId]);
    const again = await rt.downloads.start(modelId);
    expect(again).toEqual({ jobId, joined: true });
    await rt.until(jobId, 'installed');
    expect(server.requests).toHaveLength(1);
    expect(rt.db.prepare('SELECT count(*) AS n FROM downloads').get()).toEqual({ n: 1 });
    // Even a bug in the runner could not write a second open job of the model.
    const row = rt.db.prepare<[], { state: string }>('SELECT state FROM downloads').get();
    const twin = rt.db.prepare("INSERT INTO downloads VALUES (?, 'tiny-model', 'queued', 0, 1, 1, ?)");
    twin.run('job_a', row?.state);
    expect(() => twin.run('job_b', row?.state)).toThrow(/UNIQUE/);
  });

  it('a second start after the end joins the installed job without a request', async () => {
    await using server = await faultServer([{ path: '/m.gguf', body: model }]);
    await using rt = createHarness({ targets: [targetOf(model, [server.url('/m.gguf')])] });
    const first = await rt.downloads.start(modelId);
    await rt.until(first.jobId, 'installed');
    expect(await rt.downloads.start(modelId)).toEqual({ jobId: first.jobId, joined: true });
    expect(server.requests).toHaveLength(1);
  });

  it('an unknown model is refused', async () => {
    await using rt = createHarness();
    await expect(rt.downloads.start(modelId)).rejects.toMatchObject({ code: 'MODEL_UNKNOWN' });
  });

  it('DL-07, DL-10: a pause and a new process go on from the part with Range and If-Range, and hash what is there once', async () => {
    verifies('DL-07', 'DL-10');
    await using server = await faultServer([{ path: '/m.gguf', steps: [{ body: model, stallAt: 300_000 }, { body: model }] }]);
    const target = targetOf(model, [server.url('/m.gguf')]);
    const rt = createHarness({ targets: [target] });
    const { jobId } = await rt.downloads.start(modelId);
    await untilTrue(
      () => rt.job(jobId).received >= 262_144,
      () => 'bytes',
    );
    const paused = await rt.downloads.pause(jobId);
    expect(paused).toMatchObject({ phase: 'paused', resumable: true });
    expect(readFileSync(rt.partPath(jobId)).equals(model.subarray(0, 300_000))).toBe(true);
    const row = rt.db.prepare<[], { state: string }>('SELECT state FROM downloads').get();
    expect(JSON.parse(row?.state ?? '{}')).toMatchObject({
      phase: 'paused',
      validator: { host: `127.0.0.1:${server.port}` },
      total: model.length,
    });

    await using next = await rt.restart();
    await next.downloads.recover();
    expect(next.job(jobId).phase).toBe('paused');
    await next.downloads.resume(jobId);
    await next.until(jobId, 'installed');
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]?.headers).toMatchObject({ range: 'bytes=300000-', 'if-range': etagOf(model) });
    expect(sha256(readFileSync(next.modelPath()))).toBe(sha256(model));
    expect(next.job(jobId).restarted).toBeNull();
  });

  it('a job that was running when the process ended goes on by itself at the next start', async () => {
    await using server = await faultServer([{ path: '/m.gguf', steps: [{ body: model, stallAt: 300_000 }, { body: model }] }]);
    const rt = createHarness({ targets: [targetOf(model, [server.url('/m.gguf')])] });
    const { jobId } = await rt.downloads.start(modelId);
    await untilTrue(
      () => rt.job(jobId).received >= 262_144,
      () => 'bytes',
    );
    await using next = await rt.restart();
    expect(next.job(jobId).phase).toBe('downloading');
    await next.downloads.recover();
    await next.until(jobId, 'installed');
    expect(server.requests[1]?.headers['range']).toBe('bytes=300000-');
  });

  it('a cancel keeps the part, frees the model, and a new start takes the same job and part again', async () => {
    await using server = await faultServer([{ path: '/m.gguf', steps: [{ body: model, stallAt: 300_000 }, { body: model }] }]);
    await using rt = createHarness({ targets: [targetOf(model, [server.url('/m.gguf')])] });
    const { jobId } = await rt.downloads.start(modelId);
    await untilTrue(
      () => rt.job(jobId).received >= 262_144,
      () => 'bytes',
    );
    expect(await rt.downloads.cancel(jobId)).toMatchObject({ phase: 'cancelled' });
    expect(existsSync(rt.partPath(jobId))).toBe(true);
    await expect(rt.downloads.pause(jobId)).rejects.toMatchObject({ code: 'JOB_STATE', data: { phase: 'cancelled' } });
    expect(await rt.downloads.start(modelId)).toEqual({ jobId, joined: false });
    await rt.until(jobId, 'installed');
    expect(server.requests[1]?.headers['range']).toBe('bytes=300000-');
    await expect(rt.downloads.cancel(jobId)).rejects.toMatchObject({ code: 'JOB_STATE' });
    await expect(rt.downloads.resume(jobId)).rejects.toMatchObject({ code: 'JOB_STATE' });
  });

  it('DL-01: pause and resume in one breath never put two writers on one part', async () => {
    verifies('DL-01');
    const real = createFiles();
    let [open, mostOpen] = [0, 0];
    const files: Files = {
      ...real,
      async openWritable(path) {
        const file = await real.openWritable(path);
        open += 1;
        mostOpen = Math.max(mostOpen, open);
        return {
          ...file,
          async write(bytes, position) {
            // A slow disk: the write of a stopped run is still under way when the next one wants to begin.
            await new Promise((resolve) => setTimeout(resolve, 10));
            await file.write(bytes, position);
          },
          async close() {
            open -= 1;
            await file.close();
          },
        };
      },
    };
    await using server = await faultServer([{ path: '/m.gguf', body: model, bytesPerSecond: 20_000_000 }]);
    await using rt = createHarness({ targets: [targetOf(model, [server.url('/m.gguf')])], files });
    const { jobId } = await rt.downloads.start(modelId);
    for (let i = 0; i < 5; i++) {
      await untilTrue(
        () => open > 0 || rt.job(jobId).phase === 'installed',
        () => 'an open part',
      );
      if (rt.job(jobId).phase === 'installed') break;
      const paused = rt.downloads.pause(jobId);
      await rt.downloads.resume(jobId);
      await paused;
    }
    await rt.until(jobId, 'installed');
    expect(mostOpen).toBe(1);
    expect(sha256(readFileSync(rt.modelPath()))).toBe(sha256(model));
  });

  it('DL-14: without a trusted hash the model ends as unproven', async () => {
    verifies('DL-14');
    await using server = await faultServer([
      { path: '/m.gguf', body: model, headers: { 'x-sha256': sha256(model), 'content-md5': 'abc', etag: `"${sha256(model)}"` } },
    ]);
    await using rt = createHarness({ targets: [targetOf(model, [server.url('/m.gguf')], { sha256: null, bytes: null })] });
    const { jobId } = await rt.downloads.start(modelId);
    await rt.until(jobId, 'installed');
    // A digest that came with the bytes proves nothing about them.
    expect(rt.registry.list()).toMatchObject([{ state: 'unproven', sha256: sha256(model) }]);
  });

  it('a trial that fails leaves the file, lists it as rejected, and the job fails with the code of the trial', async () => {
    await using server = await faultServer([{ path: '/m.gguf', body: model }]);
    let refuse = true;
    const trial: Trial = async () => {
      if (refuse) throw new AppError('TEMPLATE_REJECTED', { reason: 'loops' });
      return undefined;
    };
    await using rt = createHarness({ targets: [targetOf(model, [server.url('/m.gguf')])], trial });
    const { jobId } = await rt.downloads.start(modelId);
    const job = await rt.until(jobId, 'failed', 'installed');
    expect(job).toMatchObject({ phase: 'failed', error: { code: 'TEMPLATE_REJECTED', data: { reason: 'loops' } } });
    expect(rt.registry.list()).toMatchObject([{ state: 'rejected', reason: 'TEMPLATE_REJECTED' }]);
    await expect(rt.registry.path(modelId)).rejects.toMatchObject({ code: 'MODEL_NOT_INSTALLED' });
    // Trying again costs a trial, not a download (REG-07).
    refuse = false;
    await rt.downloads.start(modelId);
    await rt.until(jobId, 'installed');
    expect(server.requests).toHaveLength(1);
    expect(rt.registry.list()).toMatchObject([{ state: 'proven', reason: null }]);
  });

  it('nothing is listed before the trial has ended (PR-05)', async () => {
    await using server = await faultServer([{ path: '/m.gguf', body: model }]);
    const [inTrial, mayEnd] = [deferred<void>(), deferred<void>()];
    const trial: Trial = async () => {
      inTrial.resolve();
      await mayEnd.promise;
      return undefined;
    };
    await using rt = createHarness({ targets: [targetOf(model, [server.url('/m.gguf')])], trial });
    const { jobId } = await rt.downloads.start(modelId);
    await inTrial.promise;
    expect(existsSync(rt.modelPath())).toBe(true);
    expect(rt.job(jobId).phase).toBe('verifying');
    expect(rt.registry.list()).toEqual([]);
    await expect(rt.registry.path(modelId)).rejects.toMatchObject({ code: 'MODEL_NOT_INSTALLED' });
    mayEnd.resolve();
    await rt.until(jobId, 'installed');
    expect(rt.registry.list()).toHaveLength(1);
  });

  it('a file that is whole but no GGUF never reaches the trial', async () => {
    const junk = Buffer.concat([Buffer.from('GGUF'), model.subarray(100, 5000)]);
    await using server = await faultServer([{ path: '/m.gguf', body: junk }]);
    let trials = 0;
    const trial: Trial = async () => {
      trials += 1;
      return undefined;
    };
    await using rt = createHarness({ targets: [targetOf(junk, [server.url('/m.gguf')])], trial });
    const { jobId } = await rt.downloads.start(modelId);
    expect(await rt.until(jobId, 'failed', 'installed')).toMatchObject({ phase: 'failed', error: { code: 'MODEL_FILE_CORRUPT' } });
    expect(trials).toBe(0);
    expect(rt.registry.list()).toMatchObject([{ state: 'rejected', reason: 'MODEL_FILE_CORRUPT' }]);
  });

  it('the live value comes at most each 250 ms and tells 0 B/s after 2 s of silence (DL-18)', async () => {
    verifies('DL-18');
    const clock = createFakeClock();
    await using server = await faultServer([{ path: '/m.gguf', body: model, stallAt: 350_000 }]);
    await using rt = createHarness({ targets: [targetOf(model, [server.url('/m.gguf')])], clock });
    const stop = new AbortController();
    const seen: { at: number; received: number; bytesPerSec: number; etaMs: number | null }[] = [];
    const reading = (async () => {
      for await (const { value } of rt.downloads.watch(stop.signal)) {
        const job = value.jobs[0];
        if (job !== undefined)
          seen.push({ at: clock.monotonicMs(), received: job.received, bytesPerSec: job.bytesPerSec, etaMs: job.etaMs });
      }
    })();
    const { jobId } = await rt.downloads.start(modelId);
    await untilTrue(
      () => rt.job(jobId).received >= 262_144,
      () => 'bytes',
    );
    for (let i = 0; i < 40; i++) await clock.advanceAsync(100);
    stop.abort();
    await reading;
    const moving = seen.filter((one) => one.bytesPerSec > 0);
    expect(moving.length).toBeGreaterThan(0);
    for (const one of moving) expect(one.etaMs).toBeCloseTo(((model.length - one.received) * 1000) / one.bytesPerSec, 3);
    expect(seen.at(-1)).toMatchObject({ bytesPerSec: 0, etaMs: null });
    expect(rt.job(jobId)).toMatchObject({ phase: 'downloading', bytesPerSec: 0, etaMs: null });
    const times = seen.map((one) => one.at).slice(1);
    for (const [i, at] of times.entries()) if (i > 0) expect(at - (times[i - 1] ?? 0)).toBeGreaterThanOrEqual(250);
  });
});

describe('the parts folder', () => {
  it('parts of a cancelled job are dropped after a week, those of others stay', async () => {
    const clock = createFakeClock();
    await using server = await faultServer([{ path: '/m.gguf', body: model, stallAt: 300_000 }]);
    const rt = createHarness({ targets: [targetOf(model, [server.url('/m.gguf')])], clock });
    const { jobId } = await rt.downloads.start(modelId);
    await untilTrue(
      () => rt.job(jobId).received >= 262_144,
      () => 'bytes',
    );
    await rt.downloads.cancel(jobId);
    const soon = await rt.restart();
    await soon.downloads.recover();
    expect(existsSync(soon.partPath(jobId))).toBe(true);
    clock.advance(8 * 24 * 60 * 60_000);
    await using late = await soon.restart();
    await late.downloads.recover();
    expect(existsSync(join(late.parts, jobId))).toBe(false);
  });
});
