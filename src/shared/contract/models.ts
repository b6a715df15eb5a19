import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { JobId, ModelId } from '../domain/ids.ts';
import { CatalogueEntry, DownloadJob, InstalledModel, LanguageStatus } from '../domain/models.ts';
import { errors } from './errors.ts';
import { live } from './live.ts';

const oneJob = z.strictObject({ jobId: JobId });
const jobErrors = errors('JOB_NOT_FOUND', 'JOB_STATE');

export const DownloadsValue = z.strictObject({ jobs: z.array(DownloadJob) });
export type DownloadsValue = z.infer<typeof DownloadsValue>;

export const models = {
  catalogue: oc
    .errors(errors())
    .input(z.strictObject({}))
    .output(z.strictObject({ entries: z.array(CatalogueEntry) })),
  installed: oc
    .errors(errors())
    .input(z.strictObject({}))
    .output(z.strictObject({ models: z.array(InstalledModel) })),
  /** Outlives its caller. A second start of the same model joins the job (DL-01). */
  startDownload: oc
    .errors(errors('MODEL_UNKNOWN', 'DISK_FULL', 'OFFLINE'))
    .input(z.strictObject({ modelId: ModelId }))
    .output(z.strictObject({ jobId: JobId, joined: z.boolean() })),
  pauseDownload: oc.errors(jobErrors).input(oneJob).output(DownloadJob),
  resumeDownload: oc.errors(jobErrors).input(oneJob).output(DownloadJob),
  cancelDownload: oc.errors(jobErrors).input(oneJob).output(DownloadJob),
  /** All unfinished jobs and the newest 32 finished ones; at most one snapshot each 250 ms. */
  downloads: oc
    .errors(errors())
    .input(z.strictObject({}))
    .output(eventIterator(live(DownloadsValue))),
  /** The language slot: what answers, and in which state it is. */
  language: oc
    .errors(errors())
    .input(z.strictObject({}))
    .output(eventIterator(live(LanguageStatus))),
  /** What is in memory now. Models of one engine share its process, and so its memory; `null` = the system does not say. */
  loaded: oc
    .errors(errors())
    .input(z.strictObject({}))
    .output(
      z.strictObject({
        engines: z.array(z.strictObject({ key: z.string(), memoryBytes: z.int().min(0).nullable(), modelIds: z.array(ModelId) })),
      }),
    ),
  /** A person's wish to try a model again that was switched off after crashes (RT-10). */
  enableLanguage: oc
    .errors(errors('MODEL_NOT_INSTALLED'))
    .input(z.strictObject({ modelId: ModelId }))
    .output(z.strictObject({ enabled: z.literal(true) })),
};
