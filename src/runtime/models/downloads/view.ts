import type { DownloadJob } from '../../../shared/domain/models.ts';
import { timestamp } from '../../../shared/domain/time.ts';
import type { StoredJob } from '../../store/downloads.ts';
import { etaMs } from './speed.ts';

/** A job as the contract shows it. `bytesPerSec` counts only while bytes can arrive. */
export function viewOf(job: StoredJob, speed: number, prepared: number | null = null): DownloadJob {
  const bytesPerSec = job.phase === 'downloading' ? speed : 0;
  return {
    jobId: job.jobId,
    modelId: job.modelId,
    phase: job.phase,
    waitingFor: job.waitingFor,
    nextTryAt: job.nextTryAtMs === null ? null : timestamp(job.nextTryAtMs),
    received: job.received,
    total: job.total,
    bytesPerSec,
    etaMs: etaMs(job.received, job.total, bytesPerSec),
    attempts: job.attempts,
    host: job.host,
    startedAt: timestamp(job.startedAtMs),
    updatedAt: timestamp(job.updatedAtMs),
    restarted: job.restarted,
    error: job.error,
    resumable: job.resumable,
    ...(prepared === null ? {} : { prepared }),
  };
}
