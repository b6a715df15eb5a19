import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { JobId, ModelId } from '../../shared/domain/ids.ts';

/**
 * The folder name of a model (REG-09): the id, with what a file system might trip over replaced, and then eight digits of the id's
 * hash, so that two ids never share a folder.
 */
export function safeFolder(modelId: ModelId): string {
  let safe = modelId.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 96);
  safe = safe.replace(/\.+$/, (dots) => '_'.repeat(dots.length));
  if (/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(safe)) safe = `_${safe}`;
  return safe === modelId ? safe : `${safe}-${createHash('sha256').update(modelId).digest('hex').slice(0, 8)}`;
}

/** `<parts>/<jobId>`: all that a job has on disk before its file is whole. */
export function jobFolder(partsDir: string, jobId: JobId): string {
  return join(partsDir, jobId);
}

/** DL-07. Every catalogue entry has one file today, so `n` is 0. */
export function partPath(partsDir: string, jobId: JobId): string {
  return join(jobFolder(partsDir, jobId), '0.part');
}

/** The same file made ready for this machine, before it gets its name. */
export function preparedPath(partsDir: string, jobId: JobId): string {
  return join(jobFolder(partsDir, jobId), '0.prepared');
}
