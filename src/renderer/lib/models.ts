import { useCallback, useState } from 'react';
import type { ModelId } from '../../shared/domain/ids.ts';
import type { CatalogueEntry, DownloadJob, InstalledModel } from '../../shared/domain/models.ts';
import { type AppError, toAppError } from '../../shared/errors/appError.ts';
import type { Api } from './connection.ts';
import { useServices } from './services.tsx';
import { useEndedDownloads, useRead } from './useRead.ts';

/** Phases in which a job still wants something. */
export const unfinishedPhases: readonly DownloadJob['phase'][] = ['queued', 'waiting', 'downloading', 'paused', 'verifying', 'failed'];

/** The newest job of a model, whatever became of it. */
export function jobOf(jobs: readonly DownloadJob[], modelId: string): DownloadJob | null {
  let found: DownloadJob | null = null;
  for (const job of jobs) if (job.modelId === modelId && (found === null || job.startedAt >= found.startedAt)) found = job;
  return found;
}

/** The job of a model that still wants something, or null. */
export function activeJobOf(jobs: readonly DownloadJob[], modelId: string): DownloadJob | null {
  const job = jobOf(jobs, modelId);
  return job !== null && unfinishedPhases.includes(job.phase) ? job : null;
}

export type ModelList = {
  /** null while it is read. */
  readonly entries: readonly CatalogueEntry[] | null;
  readonly installed: readonly InstalledModel[];
  readonly error: AppError | null;
  reload(): void;
};

const readModels = async (api: Api) => {
  const [{ entries }, { models }] = await Promise.all([api.models.catalogue({}), api.models.installed({})]);
  return { entries, installed: models };
};

/** What could be had and what is here, read again with each connection and whenever a download has ended. */
export function useModelList(): ModelList {
  const { value, error, reload } = useRead(readModels, useEndedDownloads());
  return { entries: value?.entries ?? null, installed: value?.installed ?? [], error, reload };
}

export type DownloadDeeds = {
  /** Starts, goes on, or begins again: whatever the model's job needs. Resolves when it was taken or refused. */
  get(modelIds: readonly ModelId[]): Promise<void>;
  pause(jobs: readonly DownloadJob[]): void;
  cancel(jobs: readonly DownloadJob[]): void;
  /** Why the last deed was refused. */
  readonly error: AppError | null;
  clear(): void;
};

/** What a person does with downloads. One after the other, so that they run in the order in which they were asked for. */
export function useDownloadDeeds(): DownloadDeeds {
  const { api } = useServices();
  const [error, setError] = useState<AppError | null>(null);
  const run = useCallback(async (deeds: readonly (() => Promise<unknown>)[]) => {
    setError(null);
    for (const deed of deeds) {
      try {
        await deed();
      } catch (thrown) {
        const failed = toAppError(thrown);
        // It came to its end meanwhile: what was wished has no object any more.
        if (failed.code === 'JOB_STATE' || failed.code === 'JOB_NOT_FOUND') continue;
        setError(failed);
        return;
      }
    }
  }, []);
  return {
    get: (modelIds) => run(modelIds.map((modelId) => () => api.models.startDownload({ modelId }))),
    pause: (jobs) =>
      void run(
        jobs.map(
          ({ jobId }) =>
            () =>
              api.models.pauseDownload({ jobId }),
        ),
      ),
    cancel: (jobs) =>
      void run(
        jobs.map(
          ({ jobId }) =>
            () =>
              api.models.cancelDownload({ jobId }),
        ),
      ),
    error,
    clear: useCallback(() => setError(null), []),
  };
}

/** Who is asked when these are fetched, for the eye: hosts of addresses, names of package clients. */
export function hostsOf(entries: readonly CatalogueEntry[]): string {
  const names = entries.flatMap(({ sources }) =>
    sources.flatMap((source) =>
      source.kind === 'hub' ? [new URL(source.url).host] : [source.client, ...source.parts.flatMap(({ client }) => client ?? [])],
    ),
  );
  return [...new Set(names)].join(', ');
}
