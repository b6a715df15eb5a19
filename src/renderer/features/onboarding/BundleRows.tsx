import { Check } from 'lucide-react';
import type { ModelId } from '../../../shared/domain/ids.ts';
import type { DownloadJob } from '../../../shared/domain/models.ts';
import { downloadState } from '../../components/DownloadState.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { Progress } from '../../components/Progress.tsx';
import { bytes, percent } from '../../lib/format.ts';
import { useTexts } from '../../lib/texts.ts';
import type { BundleRow } from './bundle.ts';

/** The models of the bundle: what each does, its size and licence, and how far it is. */
export function BundleRows(props: { rows: readonly BundleRow[]; onGet: (id: ModelId) => void }) {
  return (
    <ul className="mt-8 border-t border-line">
      {props.rows.map((row) => (
        <Row key={row.entry.id} row={row} onGet={props.onGet} />
      ))}
    </ul>
  );
}

function Row(props: { row: BundleRow; onGet: (id: ModelId) => void }) {
  const t = useTexts();
  const { entry, here, rejected, job } = props.row;
  const get = () => props.onGet(entry.id);
  return (
    <li className="border-b border-line py-8">
      <div className="flex flex-wrap items-baseline gap-x-16">
        <p className="min-w-0 flex-1 text-ui">
          <span className="font-medium">{t(`slots.${entry.slot}`)}</span>
          <span className="text-text-2"> · {entry.name}</span>
        </p>
        {here ? (
          <p className="flex items-center gap-4 text-small text-ok">
            <Check size={16} strokeWidth={1.75} aria-hidden="true" />
            {t('onboarding.machine.here')}
          </p>
        ) : (
          <p className="text-ui tabular-nums">{bytes(entry.file.bytes)}</p>
        )}
        <p className="basis-full text-small text-text-2">
          {entry.about} · {entry.licence.id}
        </p>
      </div>
      {rejected !== null && job === null && (
        <p className="mt-8 text-small text-danger">
          {t('onboarding.machine.rejected')}
          {rejected === '' ? '' : `: ${rejected}`}
        </p>
      )}
      {job !== null && <JobLine job={job} row={props.row} />}
      {job?.phase === 'failed' && job.error !== null && (
        <div className="mt-8">
          <ErrorCard error={job.error} run={{ resumeDownload: get, startOver: get, retry: get, get, again: get }} />
        </div>
      )}
    </li>
  );
}

/** One line and a thin bar: the sum below has the figures. */
function JobLine({ job, row }: { job: DownloadJob; row: BundleRow }) {
  const t = useTexts();
  const { state, fraction, figures } = downloadState(t, job, row.entry.file.bytes);
  return (
    <div className="mt-8" data-testid="job">
      <Progress label={t('model.progress', { name: row.entry.name, state })} fraction={fraction} words={`${state} ${figures}`} />
      <p className="mt-4 flex justify-between gap-16 text-small text-text-2 tabular-nums">
        <span>{state}</span>
        {fraction !== null && job.phase !== 'failed' && <span>{percent(fraction)}</span>}
      </p>
      {job.restarted !== null && <p className="text-small text-text-2">{t('model.restarted', { reason: job.restarted })}</p>}
    </div>
  );
}
