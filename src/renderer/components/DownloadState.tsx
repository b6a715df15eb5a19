import type { DownloadJob } from '../../shared/domain/models.ts';
import { bytes, clockTime, percent, speed, timeLeft } from '../lib/format.ts';
import { type Texts, useTexts } from '../lib/texts.ts';
import { Progress } from './Progress.tsx';

/** What a download does now, in words. @param totalBytes  of the catalogue, for a job that does not know it yet. */
export function downloadState(t: Texts, job: DownloadJob, totalBytes: number): { state: string; fraction: number | null; figures: string } {
  const total = job.total ?? totalBytes;
  const fraction = total > 0 ? job.received / total : null;
  const state =
    job.phase === 'waiting' && job.waitingFor !== null
      ? t(`model.waitingFor.${job.waitingFor}`, { time: job.nextTryAt === null ? '?' : clockTime(job.nextTryAt) })
      : job.phase === 'failed' && fraction !== null
        ? t('model.failedAt', { percent: percent(fraction) })
        : t(`model.phase.${job.phase}`);
  const left = timeLeft(job.etaMs);
  const moving = [
    speed(job.bytesPerSec),
    left === null ? t('model.noTime') : t('model.left', { left }),
    ...(job.host === null ? [] : [t('model.hostNow', { host: job.host })]),
  ];
  const figures = [
    t('model.received', { received: bytes(job.received), total: bytes(total) }),
    ...(job.phase === 'downloading' ? moving : []),
  ].join(' · ');
  return { state, fraction, figures };
}

/** State, bar and figures of a download (UX-52). */
export function DownloadState(props: { job: DownloadJob; name: string; totalBytes: number }) {
  const t = useTexts();
  const { job, name } = props;
  const { state, fraction, figures } = downloadState(t, job, props.totalBytes);
  return (
    <div data-testid="job">
      <div className="flex items-baseline justify-between gap-16 text-small">
        <span className="font-medium text-text">{state}</span>
        {fraction !== null && job.phase !== 'failed' && <span className="text-text-2 tabular-nums">{percent(fraction)}</span>}
      </div>
      <div className="mt-8">
        <Progress label={t('model.progress', { name, state })} fraction={fraction} words={`${state} ${figures}`} />
      </div>
      <p className="mt-8 text-small text-text-2 tabular-nums">{figures}</p>
      {job.restarted !== null && <p className="mt-4 text-small text-text-2">{t('model.restarted', { reason: job.restarted })}</p>}
    </div>
  );
}
