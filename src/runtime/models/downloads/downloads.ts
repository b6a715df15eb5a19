import { join } from 'node:path';
import type { JobId } from '../../../shared/domain/ids.ts';
import { AppError, toAppError } from '../../../shared/errors/appError.ts';
import type { Files } from '../../platform/files.ts';
import type { Clock, Fetch, Logger, Paths } from '../../platform/ports.ts';
import type { DownloadJobs, StoredJob } from '../../store/downloads.ts';
import type { InstalledModels } from '../../store/installed.ts';
import { jobFolder, partPath } from '../folders.ts';
import { downloadLimits as limits } from '../limits.ts';
import type { Prepare, Targets, Trial } from '../ports.ts';
import type { Registry } from '../registry.ts';
import type { Packages } from '../sources/packages.ts';
import { createDiskGate } from './disk.ts';
import { createInstaller } from './install.ts';
import { createJobTable, holdJob, type Job, newJob } from './jobs.ts';
import { isUnfinished, type JobEffect, type JobInput, reduceJob } from './reducer.ts';
import { hostOf, routesOf } from './routes.ts';
import { jsonData, runJob } from './run.ts';
import { createSnapshots } from './snapshots.ts';
import type { Downloads } from './types.ts';
import { viewOf } from './view.ts';

const keepPartsMs = 7 * 24 * 60 * 60_000;

/**
 * Brings models onto this machine and keeps the truth about it in the job table. Nothing starts by itself: `start` and `resume` are
 * a person's or a script's wish, `recover` goes on with what was wished before.
 *
 * @param deps.trial    loads a file once in the probe engine.
 * @param deps.prepare  makes a file ready for this machine, where its target asks for it.
 * @param deps.offline  the offline switch; call `offlineChanged` when it turns.
 * @param deps.random   0…1, spreads the back-off.
 */
export function createDownloads(deps: {
  jobs: DownloadJobs;
  installed: InstalledModels;
  registry: Pick<Registry, 'refresh' | 'get'>;
  targets: Targets;
  fetch: Fetch;
  packages: Packages;
  files: Files;
  clock: Clock;
  log: Logger;
  paths: Pick<Paths, 'models' | 'parts'>;
  trial: Trial;
  prepare: Prepare;
  offline?: () => boolean;
  random?: () => number;
}): Downloads {
  const { jobs, installed, registry, targets, files, clock, log, paths, offline = () => false, random = Math.random } = deps;
  const loaded = jobs.load(limits.finishedShown);
  if (loaded.unreadable > 0) log.error('download.rowsUnreadable', { count: loaded.unreadable });
  const table = createJobTable(loaded.jobs);
  let closed = false;

  const disk = createDiskGate({ files, modelsDir: paths.models, log, remaining: remainingBytes });
  const installer = createInstaller({ files, installed, clock, log, modelsDir: paths.models, trial: deps.trial });
  const runDeps = { ...deps, installer, disk, partsDir: paths.parts, dispatch, preparing };
  const isRunning = () => table.all().some(({ state, prepared }) => state.phase === 'downloading' || prepared !== null);
  const snapshots = createSnapshots(clock, value, isRunning);

  return {
    async start(modelId) {
      if (closed) throw new AppError('SHUTTING_DOWN');
      const target = targets.find(modelId);
      if (target === null) throw new AppError('MODEL_UNKNOWN', { modelId });
      const present = table.ofModel(modelId);
      const isThere = registry.get(modelId)?.state !== 'rejected' && registry.get(modelId) !== null;
      if (present !== null && (isUnfinished(present.state) || (present.state.phase === 'installed' && isThere))) {
        // The person asked: a job that only waits or is paused goes on now.
        if (present.state.phase === 'paused' || present.state.phase === 'waiting') dispatch(present, { type: 'resume' });
        await present.gate;
        return { jobId: present.state.jobId, joined: true };
      }
      const revived = present !== null && present.state.phase !== 'installed' ? present : null;
      const job = revived ?? holdJob(newJob(modelId, target.file.bytes, routesOf(target).length, clock.nowMs()));
      // From here on the model id is taken: all of the above ran without a pause (DL-01).
      if (revived === null) table.add(job);
      const gate = enter(job, revived);
      job.gate = gate;
      await gate;
      return { jobId: job.state.jobId, joined: false };
    },
    async pause(jobId) {
      const job = find(jobId);
      if (!isUnfinished(job.state)) throw new AppError('JOB_STATE', { phase: job.state.phase });
      dispatch(job, { type: 'pause' });
      await job.tail;
      return view(job);
    },
    async resume(jobId) {
      const job = find(jobId);
      if (closed) throw new AppError('SHUTTING_DOWN');
      if (job.state.phase === 'installed') throw new AppError('JOB_STATE', { phase: job.state.phase });
      dispatch(job, { type: 'resume' });
      return view(job);
    },
    async cancel(jobId) {
      const job = find(jobId);
      if (job.state.phase === 'installed') throw new AppError('JOB_STATE', { phase: job.state.phase });
      dispatch(job, { type: 'cancel' });
      await job.tail;
      return view(job);
    },
    get(jobId) {
      const job = table.get(jobId);
      return job === null ? null : view(job);
    },
    value,
    watch: (signal) => snapshots.live.watch(signal),
    async recover() {
      await files.makeFolder(paths.parts);
      jobs.trim(limits.finishedShown);
      for (const job of table.all()) dispatch(job, { type: 'processStart' });
      await dropOldParts();
    },
    offlineChanged() {
      const on = offline();
      for (const job of table.all()) dispatch(job, { type: 'offline', on });
    },
    async [Symbol.asyncDispose]() {
      if (closed) return;
      closed = true;
      for (const job of table.all()) {
        job.stopTimer();
        job.controller?.abort();
      }
      await Promise.all(table.all().map((job) => job.tail));
      snapshots.close();
    },
  };

  /** Disk first (DL-04), then the row. Without room there is no job. */
  async function enter(job: Job, revived: Job | null): Promise<void> {
    const before = job.state;
    try {
      if (revived !== null) job.state = reduceJob(before, { type: 'resume' }, clock.nowMs()).state;
      await files.makeFolder(paths.models);
      await disk.enter();
      if (closed) throw new AppError('SHUTTING_DOWN');
      save(job);
    } catch (error) {
      if (revived === null) table.remove(job.state.jobId);
      else job.state = before;
      throw error;
    } finally {
      job.gate = null;
    }
    snapshots.changed();
    log.info('download.queued', { modelId: job.state.modelId });
    pump();
  }

  function find(jobId: JobId): Job {
    const job = table.get(jobId);
    if (job === null) throw new AppError('JOB_NOT_FOUND');
    return job;
  }

  /** The one way in which a job's state changes. */
  function dispatch(job: Job, input: JobInput, also?: () => void): void {
    if (closed) return;
    const before = job.state;
    const { state, effects } = reduceJob(before, input, clock.nowMs());
    if (state === before) return;
    job.state = state;
    if (also !== undefined) {
      try {
        jobs.transaction(() => {
          also();
          jobs.put(job.state);
        });
      } catch (error) {
        job.state = before;
        throw error;
      }
      registry.refresh();
    } else if (effects.includes('save')) saveOrLog(job);
    if (before.phase !== state.phase) {
      if (state.phase === 'downloading' || before.phase === 'downloading') job.speed.reset();
      log.info('download.phase', { modelId: state.modelId, phase: state.phase, code: state.error?.code ?? null, received: state.received });
    }
    for (const effect of effects) act(job, effect);
    if (effects.length > 0) {
      setTimerOf(job);
      pump();
    }
    snapshots.changed();
  }

  function preparing(job: Job, fraction: number | null): void {
    job.prepared = fraction;
    if (!closed) snapshots.changed();
  }

  function act(job: Job, effect: JobEffect): void {
    switch (effect) {
      case 'save':
        return;
      case 'stop':
        job.controller?.abort();
        return;
      case 'dropPart':
        chain(job, () => {
          job.memo = null;
          return files.remove(jobFolder(paths.parts, job.state.jobId));
        });
        return;
      case 'setAside':
        chain(job, () => setAside(job));
        return;
      case 'begin': {
        job.controller?.abort();
        const controller = new AbortController();
        job.controller = controller;
        chain(job, () => run(job, controller.signal));
        return;
      }
    }
  }

  function chain(job: Job, work: () => Promise<void>): void {
    job.tail = job.tail.then(work).catch((error: unknown) => {
      log.error('download.step', { modelId: job.state.modelId, code: toAppError(error).code }, error);
    });
  }

  async function run(job: Job, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    try {
      const target = targets.find(job.state.modelId);
      if (target === null) throw new AppError('MODEL_UNKNOWN', { modelId: job.state.modelId });
      await runJob(runDeps, job, target, signal);
    } catch (thrown) {
      if (signal.aborted) return;
      let error = toAppError(thrown);
      if (error.code === 'DISK_FULL' && error.data['neededBytes'] === 0) error = await disk.refused();
      if (error.code === 'INTERNAL') log.error('download.failed', { modelId: job.state.modelId }, thrown);
      if (signal.aborted) return;
      tellFailure(job, error);
    }
  }

  function tellFailure(job: Job, error: AppError): void {
    const stored = { code: error.code, data: jsonData(error) };
    if (error.code === 'DOWNLOAD_SIZE_MISMATCH') {
      dispatch(job, { type: 'wrong', error: stored, reason: 'size' });
      return;
    }
    const wait = error.data['retryAfterMs'];
    dispatch(job, { type: 'failed', error: stored, retryAfterMs: typeof wait === 'number' ? wait : null, random: random() });
  }

  /** Wrong twice: the bytes are kept for a look, under a name that nothing resumes (9.1). */
  async function setAside(job: Job): Promise<void> {
    job.memo = null;
    const path = partPath(paths.parts, job.state.jobId);
    if ((await files.stat(path)) !== null) await files.rename(path, `${path}.bad`);
  }

  /** Gives free slots to those who wait longest: three files at once, two of one host. */
  function pump(): void {
    if (closed) return;
    const waiting = table
      .all()
      .filter((job) => job.state.phase === 'queued' && job.gate === null)
      .sort((a, b) => a.state.startedAtMs - b.state.startedAtMs);
    for (const job of waiting) {
      if (offline()) {
        dispatch(job, { type: 'offline', on: true });
        continue;
      }
      const active = table.all().filter(({ state }) => state.phase === 'downloading' || state.phase === 'verifying');
      if (active.length >= limits.filesAtOnce) return;
      const host = routeHost(job);
      if (active.filter((other) => routeHost(other) === host).length >= limits.filesPerHost) continue;
      dispatch(job, { type: 'slot' });
    }
  }

  function routeHost(job: Job): string {
    const target = targets.find(job.state.modelId);
    return target === null ? '' : hostOf(routesOf(target)[job.state.route]);
  }

  function setTimerOf(job: Job): void {
    job.stopTimer();
    job.stopTimer = () => {};
    const { phase, nextTryAtMs, waitingFor } = job.state;
    if (phase !== 'waiting' || nextTryAtMs === null) return;
    job.stopTimer = clock.setTimer(Math.max(0, nextTryAtMs - clock.nowMs()), () => {
      if (waitingFor === 'disk') chain(job, () => lookAtDisk(job));
      else dispatch(job, { type: 'due' });
    });
  }

  async function lookAtDisk(job: Job): Promise<void> {
    const hasRoom = await disk.enter().then(
      () => true,
      () => false,
    );
    dispatch(job, { type: hasRoom ? 'due' : 'stillFull' });
  }

  /** What all unfinished jobs still write; a package lies there packed and unpacked for a while (DL-04). */
  function remainingBytes(): number {
    return table.all().reduce((sum, { state }) => {
      if (!isUnfinished(state) || state.total === null || state.placed) return sum;
      const target = targets.find(state.modelId);
      const packed = target !== null && routesOf(target)[state.route]?.kind === 'package' ? state.total : 0;
      return sum + Math.max(0, state.total - state.received) + packed + (target?.prepare?.file.bytes ?? 0);
    }, 0);
  }

  function save(job: Job): void {
    jobs.put(job.state);
  }

  /** In the middle of a transfer a row that can't be written now is no reason to stop: the file's real size wins anyway. */
  function saveOrLog(job: Job): void {
    try {
      save(job);
    } catch (error) {
      log.error('download.rowNotSaved', { modelId: job.state.modelId }, error);
    }
  }

  function view(job: Job) {
    return viewOf(job.state, job.speed.at(clock.monotonicMs()), job.prepared);
  }

  function value() {
    const byUpdate = (a: Job, b: Job) => b.state.updatedAtMs - a.state.updatedAtMs;
    const open = table.all().filter((job) => isUnfinished(job.state));
    const finished = table.all().filter((job) => !isUnfinished(job.state));
    const shown = [
      ...open.sort((a, b) => a.state.startedAtMs - b.state.startedAtMs),
      ...finished.sort(byUpdate).slice(0, limits.finishedShown),
    ];
    return { jobs: shown.map(view) };
  }

  /** DL-23: parts of cancelled and failed jobs stay a week. */
  async function dropOldParts(): Promise<void> {
    const isOld = (state: StoredJob) => !isUnfinished(state) && clock.nowMs() - state.updatedAtMs > keepPartsMs;
    for (const name of await files.list(paths.parts)) {
      const job = table.all().find(({ state }) => state.jobId === name);
      if (job !== undefined && isOld(job.state)) await files.remove(join(paths.parts, name));
    }
  }
}
