import { type JobId, type ModelId, newId } from '../../../shared/domain/ids.ts';
import type { StoredJob } from '../../store/downloads.ts';
import type { PartMemo } from './part.ts';
import { createSpeed, type Speed } from './speed.ts';

/** A job as the runner holds it: the row, and what lives with the process only. */
export type Job = {
  state: StoredJob;
  readonly speed: Speed;
  /** What is to be done for this job, one after the other: two writers can never meet on one part (DL-01). */
  tail: Promise<void>;
  /** Ends the run that is queued or under way. */
  controller: AbortController | null;
  /** The disk gate of a start that others may have joined. */
  gate: Promise<void> | null;
  memo: PartMemo | null;
  stopTimer: () => void;
  /** 0…1 while its file is made ready for this machine. */
  prepared: number | null;
};

export function holdJob(state: StoredJob): Job {
  return {
    state,
    speed: createSpeed(),
    tail: Promise.resolve(),
    controller: null,
    gate: null,
    memo: null,
    stopTimer: () => {},
    prepared: null,
  };
}

export function newJob(modelId: ModelId, total: number | null, routes: number, nowMs: number): StoredJob {
  return {
    jobId: newId('job', nowMs),
    modelId,
    phase: 'queued',
    waitingFor: null,
    nextTryAtMs: null,
    received: 0,
    total,
    attempts: 0,
    tries: 0,
    progressMark: 0,
    failingSinceMs: null,
    route: 0,
    routes,
    wrongBytes: 0,
    notModel: 0,
    host: null,
    validator: null,
    digest: null,
    placed: false,
    restarted: null,
    error: null,
    resumable: true,
    startedAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

export type JobTable = {
  all(): readonly Job[];
  get(jobId: JobId): Job | null;
  /** The job that stands for a model now: an unfinished, failed or cancelled one, else the newest installed. */
  ofModel(modelId: ModelId): Job | null;
  add(job: Job): void;
  remove(jobId: JobId): void;
};

export function createJobTable(states: readonly StoredJob[]): JobTable {
  const jobs = new Map<JobId, Job>(states.map((state) => [state.jobId, holdJob(state)]));
  return {
    all: () => [...jobs.values()],
    get: (jobId) => jobs.get(jobId) ?? null,
    ofModel(modelId) {
      const own = [...jobs.values()].filter((job) => job.state.modelId === modelId);
      const open = own.find((job) => job.state.phase !== 'installed');
      return open ?? own.sort((a, b) => b.state.updatedAtMs - a.state.updatedAtMs)[0] ?? null;
    },
    add: (job) => void jobs.set(job.state.jobId, job),
    remove: (jobId) => void jobs.delete(jobId),
  };
}
