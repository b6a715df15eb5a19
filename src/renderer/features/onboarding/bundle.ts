import type { CatalogueEntry, DownloadJob, InstalledModel } from '../../../shared/domain/models.ts';
import type { StarterBundle } from '../../../shared/domain/starterBundle.ts';
import { activeJobOf, jobOf } from '../../lib/models.ts';

export type BundleRow = {
  readonly entry: CatalogueEntry;
  /** It is here, and its first load went well. */
  readonly here: boolean;
  /** Why the file that is here cannot be used. */
  readonly rejected: string | null;
  /** Its download, as long as that still wants something. */
  readonly job: DownloadJob | null;
};

export type BundleView = {
  readonly rows: readonly BundleRow[];
  readonly totalBytes: number;
  /** What is here or has been fetched. */
  readonly receivedBytes: number;
  readonly leftBytes: number;
  readonly state: 'ready' | 'idle' | 'running' | 'checking' | 'waiting' | 'paused' | 'stopped';
  /** `null` = not known: nothing moves, or nothing has been measured. */
  readonly leftMs: number | null;
  /** Those that a pause or a cancel is meant for. */
  readonly jobs: readonly DownloadJob[];
  readonly missing: readonly CatalogueEntry[];
};

/** How far the starter bundle is: of each model and in sum. */
export function bundleView(bundle: StarterBundle, installed: readonly InstalledModel[], jobs: readonly DownloadJob[]): BundleView {
  const rows = bundle.entries.map((entry): BundleRow => {
    const found = installed.find(({ id }) => id === entry.id);
    // One that is made ready at its install is another file from then on.
    const proven = [entry.file.sha256, entry.prepare?.file.sha256];
    const here = found !== undefined && found.state === 'proven' && proven.includes(found.sha256);
    const rejected = found?.state === 'rejected' ? (found.reason ?? '') : null;
    const job = jobOf(jobs, entry.id);
    // Its end is told before the list of what is installed was read again.
    const ending = job?.phase === 'installed' && found === undefined ? job : null;
    return { entry, here, rejected, job: here ? null : (ending ?? activeJobOf(jobs, entry.id)) };
  });
  const fetched = ({ entry, here, job }: BundleRow) => (here ? entry.file.bytes : Math.min(entry.file.bytes, job?.received ?? 0));
  const receivedBytes = rows.reduce((sum, row) => sum + fetched(row), 0);
  const leftBytes = bundle.bytes - receivedBytes;
  const active = rows.flatMap(({ job }) => job ?? []);
  const bytesPerSec = active.reduce((sum, job) => sum + (job.phase === 'downloading' ? job.bytesPerSec : 0), 0);
  return {
    rows,
    totalBytes: bundle.bytes,
    receivedBytes,
    leftBytes,
    state: stateOf(rows, active),
    leftMs: bytesPerSec > 0 ? (leftBytes / bytesPerSec) * 1000 : null,
    jobs: active.filter(({ phase }) => phase !== 'failed' && phase !== 'installed'),
    missing: rows
      .filter(({ here, job }) => !here && (job === null || job.phase === 'failed' || job.phase === 'paused'))
      .map(({ entry }) => entry),
  };
}

function stateOf(rows: readonly BundleRow[], active: readonly DownloadJob[]): BundleView['state'] {
  if (rows.length > 0 && rows.every(({ here }) => here)) return 'ready';
  const has = (phase: DownloadJob['phase']) => active.some((job) => job.phase === phase);
  if (has('downloading') || has('queued')) return 'running';
  if (has('verifying') || has('installed')) return 'checking';
  if (has('waiting')) return 'waiting';
  if (has('paused')) return 'paused';
  return has('failed') ? 'stopped' : 'idle';
}
