import { join } from 'node:path';
import { AppError, isAppError, toAppError } from '../../../shared/errors/appError.ts';
import { crashPoint } from '../../../shared/util/crashPoint.ts';
import type { Files } from '../../platform/files.ts';
import type { Clock, Logger } from '../../platform/ports.ts';
import type { InstalledModels, InstalledRow } from '../../store/installed.ts';
import { safeFolder } from '../folders.ts';
import { inspectModelFile } from '../inspect.ts';
import type { DownloadTarget, Trial, TrialResult } from '../ports.ts';
import { hashFile } from './part.ts';

export type Place = { readonly folder: string; readonly path: string };

/** How a trial ended: why the file is no good, or what was measured. */
export type Tried = { readonly failure: AppError | null; readonly speedFactor: number | null };

/** What lies in the end: the prepared file where there is one to be made, else the one that was fetched. */
export function finalFile({ file, prepare }: DownloadTarget): DownloadTarget['file'] {
  return prepare?.file ?? file;
}

/** From a whole part to a listed model: rename, row, trial (DL-13, RT-09). */
export function createInstaller(deps: {
  files: Files;
  installed: InstalledModels;
  clock: Clock;
  log: Logger;
  modelsDir: string;
  trial: Trial;
}) {
  const { files, installed, clock, log, modelsDir, trial } = deps;

  const placeOf = (target: DownloadTarget): Place => {
    const folder = join(modelsDir, safeFolder(target.modelId));
    return { folder, path: join(folder, finalFile(target).name) };
  };

  return {
    /**
     * Whether the whole file has its final name already: the process died after the rename, or the trial is to be tried again.
     *
     * @param digest  the hash that proves it; `null` = nothing could, so the answer is no.
     */
    async isStanding(target: DownloadTarget, digest: string | null, signal: AbortSignal): Promise<number | null> {
      const place = placeOf(target);
      const facts = await files.stat(place.path);
      const { bytes: wanted } = finalFile(target);
      if (digest === null || facts?.kind !== 'file' || (wanted !== null && facts.bytes !== wanted)) return null;
      const { sha256, bytes } = await hashFile(files, place.path, signal);
      return sha256 === digest ? bytes : null;
    },

    /** Gives the proven part its name, durably. A stranger's file that lies there is put beside, never overwritten. */
    async place(target: DownloadTarget, part: string): Promise<void> {
      const place = placeOf(target);
      await files.makeFolder(place.folder);
      if ((await files.stat(place.path)) !== null) await files.rename(place.path, `${place.path}.${clock.nowMs()}.old`);
      crashPoint('download.beforeRename');
      await files.rename(part, place.path);
      crashPoint('download.afterRename');
      await files.syncFolder(place.folder);
      await files.syncFolder(modelsDir);
    },

    /** The row of a file that stands in its place. */
    async row(target: DownloadTarget, sha256: string): Promise<InstalledRow> {
      const facts = await files.stat(placeOf(target).path);
      if (facts?.kind !== 'file') throw new AppError('STORE_IO', {}, { message: 'the placed file is gone' });
      const now = clock.nowMs();
      return {
        id: target.modelId,
        name: target.name,
        slot: target.slot,
        runtimeClass: target.runtimeClass,
        folder: safeFolder(target.modelId),
        file: finalFile(target).name,
        bytes: facts.bytes,
        sha256,
        mtimeMs: Math.floor(facts.mtimeMs),
        inode: facts.inode,
        source: 'download',
        state: finalFile(target).sha256 === null ? 'unproven' : 'proven',
        reason: null,
        installedAtMs: now,
        verifiedAtMs: now,
        trialAtMs: null,
        speedFactor: null,
      };
    },

    /**
     * Our pre-check, then the trial load in the probe engine.
     *
     * @throws AppError CANCELLED.
     */
    async tryOut(target: DownloadTarget, signal: AbortSignal): Promise<Tried> {
      const { path } = placeOf(target);
      try {
        if (target.runtimeClass === 'generic-gguf') await inspectModelFile(files, path, clock);
        crashPoint('download.beforeTrial');
        const measured: TrialResult | undefined = await trial(path, signal, target);
        return { failure: null, speedFactor: measured?.speedFactor ?? null };
      } catch (error) {
        if (signal.aborted || isAppError(error, 'CANCELLED')) throw new AppError('CANCELLED');
        const failure = toAppError(error);
        log.warn('download.trialFailed', { modelId: target.modelId, code: failure.code });
        return { failure, speedFactor: null };
      }
    },

    /** Inside the transaction that ends the job. */
    settle(target: DownloadTarget, { failure, speedFactor }: Tried): void {
      const row = installed.get(target.modelId);
      if (row === null) return;
      const trialAtMs = clock.nowMs();
      installed.put(
        failure === null
          ? { ...row, reason: null, trialAtMs, speedFactor }
          : { ...row, state: 'rejected', reason: failure.code, trialAtMs },
      );
    },
  };
}
export type Installer = ReturnType<typeof createInstaller>;
