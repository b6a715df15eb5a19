import { AppError, isAppError } from '../../../shared/errors/appError.ts';
import { crashPoint } from '../../../shared/util/crashPoint.ts';
import type { Files } from '../../platform/files.ts';
import type { Clock, Fetch } from '../../platform/ports.ts';
import type { DownloadJobs } from '../../store/downloads.ts';
import type { InstalledModels } from '../../store/installed.ts';
import { jobFolder, partPath, preparedPath } from '../folders.ts';
import type { DownloadTarget, Prepare } from '../ports.ts';
import type { Packages } from '../sources/packages.ts';
import type { DiskGate } from './disk.ts';
import { firstLine, peekBytes, startsWithGguf } from './firstBytes.ts';
import { finalFile, type Installer } from './install.ts';
import type { Job } from './jobs.ts';
import { openPart, type Part } from './part.ts';
import type { JobInput } from './reducer.ts';
import { hostOf, type Route, routesOf } from './routes.ts';
import { transfer } from './transfer.ts';

export type RunDeps = {
  jobs: DownloadJobs;
  installed: InstalledModels;
  installer: Installer;
  fetch: Fetch;
  packages: Packages;
  files: Files;
  clock: Clock;
  disk: DiskGate;
  prepare: Prepare;
  partsDir: string;
  /** Moves the job on. In a transaction together with `also`, if given. */
  dispatch: (job: Job, input: JobInput, also?: () => void) => void;
  /** How far a job's file is made ready; `null` = that is over. It lives with the process. */
  preparing: (job: Job, fraction: number | null) => void;
};

/**
 * One run of a job, from its slot to the end of the trial load. Each step tells the reducer what happened; a stopped run tells
 * nothing more.
 *
 * @throws AppError for every failure, CANCELLED when stopped.
 */
export async function runJob(deps: RunDeps, job: Job, target: DownloadTarget, signal: AbortSignal): Promise<void> {
  const { installer, dispatch, files, partsDir } = deps;
  let digest = finalFile(target).sha256 ?? job.state.digest;
  const standing = await installer.isStanding(target, digest, signal);
  if (standing === null) {
    await deps.disk.enter();
    const brought = await bringAndProve(deps, job, target, signal);
    if (brought === null) return;
    const made = await makeReady(deps, job, target, signal);
    await installer.place(target, made ?? partPath(partsDir, job.state.jobId));
    digest ??= brought;
    job.memo = null;
  } else {
    stopIf(signal);
    dispatch(job, { type: 'lastByte', received: standing });
  }
  // A pause may have come while the file was renamed; the next run finds it in its place.
  stopIf(signal);
  const row = await installer.row(target, digest ?? '');
  stopIf(signal);
  dispatch(job, { type: 'placed' }, () => deps.installed.put(row));
  crashPoint('download.afterRow');
  await files.remove(jobFolder(partsDir, job.state.jobId));
  const tried = await installer.tryOut(target, signal);
  stopIf(signal);
  const { failure } = tried;
  const input: JobInput =
    failure === null ? { type: 'tried' } : { type: 'rejected', error: { code: failure.code, data: jsonData(failure) } };
  dispatch(job, input, () => installer.settle(target, tried));
  crashPoint('download.afterTrial');
}

/** @returns the part's SHA-256 once it is the file that was wanted; `null` when the reducer sent the job another way. */
async function bringAndProve(deps: RunDeps, job: Job, target: DownloadTarget, signal: AbortSignal): Promise<string | null> {
  const { dispatch, files, partsDir } = deps;
  const { jobId } = job.state;
  await files.makeFolder(jobFolder(partsDir, jobId));
  const part = await openPart(files, partPath(partsDir, jobId), job.memo, signal);
  try {
    const route = routesOf(target)[job.state.route];
    if (route === undefined) throw new AppError('SOURCE_FILE_MISSING');
    const whole = await isWhole(job, target, part);
    if (!whole && route.kind === 'http') await overHttp(deps, job, target, part, route.url, signal);
    if (!whole && route.kind === 'package') await fromPackages(deps, job, part, route, signal);
    stopIf(signal);
    dispatch(job, { type: 'lastByte', received: part.written() });
    await part.sync();
    return await prove(deps, job, target, part, signal);
  } finally {
    job.memo = await part.close().catch(() => null);
  }
}

/**
 * The prepared form of a proven part, where the target wants one. The part stays until the model is listed, so that a try that is cut short
 * begins here again.
 *
 * @returns its path; `null` when there is nothing to make.
 * @throws AppError MODEL_FILE_CORRUPT if something else came out than was promised, and what `Prepare` throws.
 */
async function makeReady(deps: RunDeps, job: Job, target: DownloadTarget, signal: AbortSignal): Promise<string | null> {
  if (target.prepare === undefined) return null;
  const { jobId } = job.state;
  const from = partPath(deps.partsDir, jobId);
  const to = preparedPath(deps.partsDir, jobId);
  deps.preparing(job, 0);
  try {
    const options = { signal, onProgress: (fraction: number) => deps.preparing(job, fraction) };
    const { bytes, sha256 } = await deps.prepare({ from, to, target }, options);
    stopIf(signal);
    const wanted = target.prepare.file;
    if (bytes !== wanted.bytes || sha256 !== wanted.sha256) throw new AppError('MODEL_FILE_CORRUPT', { reason: 'prepared otherwise' });
    crashPoint('download.prepared');
    return to;
  } finally {
    deps.preparing(job, null);
  }
}

/** A part that an earlier run had proven, before it was cut short: nothing is fetched anew for it. */
async function isWhole(job: Job, target: DownloadTarget, part: Part): Promise<boolean> {
  const { bytes, sha256 } = target.file;
  return sha256 !== null && job.state.digest === sha256 && part.written() === bytes && (await part.digest()) === sha256;
}

async function overHttp(deps: RunDeps, job: Job, target: DownloadTarget, part: Part, url: string, signal: AbortSignal): Promise<void> {
  const { dispatch } = deps;
  // The file's real size wins over the row (DL-07); if it is smaller, a power cut took the end of it.
  if (part.written() < job.state.received) {
    const reason = part.written() === 0 ? 'source' : 'lost';
    dispatch(job, { type: 'restart', reason, received: part.written() });
  } else dispatch(job, { type: 'progress', received: part.written() });
  await transfer(deps, {
    url,
    asker: target.modelId,
    part,
    fileName: target.file.name,
    expectedBytes: target.file.bytes,
    sha256: target.file.sha256,
    validator: job.state.validator,
    signal,
    checkDisk: () => deps.disk.floor(),
    events: {
      opened: (host, validator, total) => dispatch(job, { type: 'opened', host, validator, total }),
      progress(received, bytesNow) {
        job.speed.add(bytesNow, deps.clock.monotonicMs());
        dispatch(job, { type: 'progress', received });
      },
      restart: (reason) => dispatch(job, { type: 'restart', reason, received: 0 }),
    },
  });
}

async function fromPackages(deps: RunDeps, job: Job, part: Part, route: Route & { kind: 'package' }, signal: AbortSignal): Promise<void> {
  const { dispatch } = deps;
  let seen = 0;
  const progress = (bytes: number) => {
    if (bytes > seen) job.speed.add(bytes - seen, deps.clock.monotonicMs());
    seen = Math.max(seen, bytes);
    // A package is smaller than what it holds, or larger; what is shown never passes the file's own size.
    dispatch(job, { type: 'progress', received: Math.min(bytes, job.state.total ?? bytes) });
  };
  dispatch(job, { type: 'opened', host: hostOf(route), validator: null, total: job.state.total });
  try {
    await deps.packages.fetch({
      source: route.source,
      folder: jobFolder(deps.partsDir, job.state.jobId),
      part,
      asker: job.state.modelId,
      signal,
      onBytes: progress,
      onJoined: (bytes) => dispatch(job, { type: 'progress', received: Math.min(bytes, job.state.total ?? bytes) }),
    });
  } catch (error) {
    // A client that found no room only says so in its own words.
    if (isAppError(error, 'PACKAGE_FETCH_FAILED')) await deps.disk.floor();
    throw error;
  }
}

async function prove(deps: RunDeps, job: Job, target: DownloadTarget, part: Part, signal: AbortSignal): Promise<string | null> {
  const { dispatch } = deps;
  const { name, bytes, sha256 } = target.file;
  const actual = await part.digest();
  stopIf(signal);
  if (bytes !== null && part.written() !== bytes) {
    const error = { code: 'DOWNLOAD_SIZE_MISMATCH', data: { file: name, expected: bytes, actual: part.written() } };
    dispatch(job, { type: 'wrong', error, reason: 'size' });
    return null;
  }
  if (sha256 !== null && actual !== sha256) {
    const error = { code: 'DOWNLOAD_HASH_MISMATCH', data: { file: name, expected: sha256, actual } };
    dispatch(job, { type: 'wrong', error, reason: 'hash' });
    return null;
  }
  if (sha256 === null) {
    // Nothing but its own first bytes speaks for this file.
    const head = await part.head(peekBytes);
    if (!startsWithGguf(head)) {
      await part.restart();
      dispatch(job, { type: 'restart', reason: 'not a model', received: 0 });
      throw new AppError('DOWNLOAD_NOT_A_MODEL', { firstLine: firstLine(head) });
    }
  }
  dispatch(job, { type: 'hashed', digest: actual });
  return actual;
}

function stopIf(signal: AbortSignal): void {
  if (signal.aborted) throw new AppError('CANCELLED');
}

/** The data of an error as plain JSON: what can't be written down is left out. */
export function jsonData(error: AppError): NonNullable<Job['state']['error']>['data'] {
  const kept: NonNullable<Job['state']['error']>['data'] = {};
  for (const [key, value] of Object.entries(error.data)) {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') kept[key] = value;
  }
  return kept;
}
