import type { DownloadsValue } from '../../../shared/contract/models.ts';
import type { JobId, ModelId } from '../../../shared/domain/ids.ts';
import type { DownloadJob } from '../../../shared/domain/models.ts';
import type { Snapshot } from '../../../shared/util/liveValue.ts';

/** Getting models. The job table is the truth; this object only moves it along. */
export type Downloads = {
  /**
   * Begins to fetch a catalogue entry, or joins the job that already does. The model id is taken before the first await (DL-01).
   *
   * @throws AppError MODEL_UNKNOWN, DISK_FULL, OFFLINE, SHUTTING_DOWN.
   */
  start(modelId: ModelId): Promise<{ jobId: JobId; joined: boolean }>;
  /** @throws AppError JOB_NOT_FOUND; JOB_STATE if the job is finished. */
  pause(jobId: JobId): Promise<DownloadJob>;
  /** Goes on with a paused, waiting, failed or cancelled job, now. @throws AppError JOB_NOT_FOUND, JOB_STATE, OFFLINE. */
  resume(jobId: JobId): Promise<DownloadJob>;
  /** Ends a job; its part stays for a later try. @throws AppError JOB_NOT_FOUND; JOB_STATE if it is installed. */
  cancel(jobId: JobId): Promise<DownloadJob>;
  get(jobId: JobId): DownloadJob | null;
  value(): DownloadsValue;
  /** At most one snapshot each 250 ms. */
  watch(signal?: AbortSignal): AsyncGenerator<Snapshot<DownloadsValue>, void, void>;
  /** After a process start: unfinished jobs go back to the queue and run again (9.1). */
  recover(): Promise<void>;
  /** The offline switch changed. */
  offlineChanged(): void;
  /** Stops all transfers, keeps parts and rows. */
  [Symbol.asyncDispose](): Promise<void>;
};
