import { useEffect, useState } from 'react';
import type { ModelId } from '../../../shared/domain/ids.ts';
import type { DownloadJob } from '../../../shared/domain/models.ts';
import { Button } from '../../components/Button.tsx';
import { Dialog } from '../../components/Dialog.tsx';
import { DownloadState } from '../../components/DownloadState.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { StillRows } from '../../components/StillRows.tsx';
import { bytes } from '../../lib/format.ts';
import { activeJobOf, type DownloadDeeds, hostsOf, useDownloadDeeds, useModelList } from '../../lib/models.ts';
import { useConnection, useLive, useServices } from '../../lib/services.tsx';
import { useTexts } from '../../lib/texts.ts';
import { type Loaded, type ModelRow, modelRows } from './rows.ts';

/** Memory moves while models work; so often is it looked at, and only while this place is open. */
const lookEveryMs = 5_000;

/** Every model that can be had or is here, by what it does: size, licence, state, memory, and one button. */
export function ModelsPlace() {
  const t = useTexts();
  const list = useModelList();
  const deeds = useDownloadDeeds();
  const jobs = useLive('downloads').value?.jobs ?? [];
  const language = useLive('language').value;
  const loaded = useLoaded();
  const [cancelling, setCancelling] = useState<DownloadJob | null>(null);
  const [asked, setAsked] = useState<ModelId | null>(null);
  const groups = list.entries === null ? null : modelRows(list.entries, list.installed, loaded, language);
  const all = groups?.flatMap(({ rows }) => rows) ?? [];
  const here = all.filter(({ installed }) => installed !== null && installed.state !== 'rejected').length;
  const get = (id: ModelId) => {
    setAsked(id);
    void deeds.get([id]);
  };
  return (
    <main id="content" data-region="content" tabIndex={-1} className="min-h-0 min-w-0 flex-1 overflow-y-auto px-16 pb-48 wide:px-24">
      <div className="max-w-thread">
        <div className="flex flex-wrap items-baseline justify-between gap-16 pt-24">
          <h1 className="text-title">{t('models.title')}</h1>
          {all.length > 0 && <p className="text-small text-text-2">{t('models.count', { count: here, total: all.length })}</p>}
        </div>
        {list.error !== null && (
          <div className="mt-16">
            <ErrorCard error={list.error} run={{ retry: list.reload, restart: list.reload, wait: list.reload }} />
          </div>
        )}
        {groups === null ? (
          list.error === null && <StillRows label={t('models.loading')} count={6} />
        ) : all.length === 0 ? (
          <p className="mt-16 text-ui text-text-2">{t('models.empty')}</p>
        ) : (
          groups.map(({ slot, rows }) => (
            <section key={slot} aria-labelledby={`slot-${slot}`} className="mt-32">
              <h2 id={`slot-${slot}`} className="text-heading">
                {t(`slots.${slot}`)}
              </h2>
              <ul className="mt-8 border-t border-line">
                {rows.length === 0 && <li className="border-b border-line py-12 text-ui text-text-2">{t('models.noneHere')}</li>}
                {rows.map((row) => (
                  <Row
                    key={row.id}
                    row={row}
                    job={activeJobOf(jobs, row.id)}
                    deeds={deeds}
                    failed={asked === row.id}
                    onGet={get}
                    onCancel={(job) => (job.received > 0 ? setCancelling(job) : deeds.cancel([job]))}
                  />
                ))}
              </ul>
            </section>
          ))
        )}
      </div>
      <Dialog
        open={cancelling !== null}
        onClose={() => setCancelling(null)}
        title={t('model.cancelTitle')}
        body={t('model.cancelBody', { size: bytes(cancelling?.received) })}
      >
        <Button onClick={() => setCancelling(null)}>{t('model.cancelKeep')}</Button>
        <Button
          look="danger"
          onClick={() => {
            if (cancelling !== null) deeds.cancel([cancelling]);
            setCancelling(null);
          }}
        >
          {t('model.cancelAsk', { size: bytes(cancelling?.received) })}
        </Button>
      </Dialog>
    </main>
  );
}

function Row(props: {
  row: ModelRow;
  job: DownloadJob | null;
  deeds: DownloadDeeds;
  /** The refusal of the last deed is of this row. */
  failed: boolean;
  onGet: (id: ModelId) => void;
  onCancel: (job: DownloadJob) => void;
}) {
  const t = useTexts();
  const connection = useConnection();
  const { row, job, deeds } = props;
  const { entry } = row;
  const get = () => entry !== null && props.onGet(entry.id);
  const wanted = entry !== null && job === null && (row.state === 'notHere' || row.state === 'rejected');
  const deed = row.state === 'rejected' ? t('models.getAgain') : t('models.get', { size: bytes(entry?.file.bytes) });
  const facts = [
    ...(row.state === 'notHere' ? [] : [bytes(row.bytes)]),
    ...(entry === null ? [] : [entry.licence.id]),
    ...(entry?.languages === undefined || entry.languages.length === 0 ? [] : [entry.languages.map(nameOf).join(', ')]),
    ...((entry?.voices?.length ?? 0) > 1 ? [t('models.voices', { count: entry?.voices?.length ?? 0 })] : []),
  ];
  return (
    <li className="border-b border-line py-12" data-testid={`model-${row.id}`}>
      <div className="flex items-start gap-16">
        <div className="min-w-0 flex-1">
          <p className="text-ui">
            <span className="font-medium">{row.name}</span>
            <span className="text-text-2"> · {facts.join(' · ')}</span>
          </p>
          {entry !== null && <p className="mt-4 text-small text-text-2">{entry.about}</p>}
          {job === null && <StateLine row={row} />}
        </div>
        {wanted && (
          <Button
            aria-label={t('models.getName', { deed, name: row.name })}
            title={t('model.goesTo', { hosts: hostsOf([entry]) })}
            disabled={connection.kind !== 'open'}
            onClick={get}
          >
            {deed}
          </Button>
        )}
      </div>
      {job !== null && (
        <div className="mt-12">
          <DownloadState job={job} name={row.name} totalBytes={row.bytes} />
          {job.phase === 'failed' && job.error !== null && (
            <div className="mt-12">
              <ErrorCard error={job.error} run={{ resumeDownload: get, startOver: get, retry: get, get, again: get }} />
            </div>
          )}
          <div className="mt-8 flex gap-8">
            {job.phase === 'downloading' && <Button onClick={() => deeds.pause([job])}>{t('model.pause')}</Button>}
            {(job.phase === 'paused' || job.phase === 'waiting') && <Button onClick={get}>{t('model.resume')}</Button>}
            {job.phase !== 'verifying' && <Button onClick={() => props.onCancel(job)}>{t('model.cancel')}</Button>}
          </div>
        </div>
      )}
      {props.failed && deeds.error !== null && (
        <div className="mt-12">
          <ErrorCard error={deeds.error} run={{ retry: get, resumeDownload: get, startOver: get, get, dismiss: deeds.clear }} />
        </div>
      )}
    </li>
  );
}

function StateLine({ row }: { row: ModelRow }) {
  const t = useTexts();
  switch (row.state) {
    case 'loaded': {
      const size = bytes(row.memoryBytes);
      const memory =
        row.memoryBytes === null
          ? t('models.memoryUnknown')
          : row.shared
            ? t('models.memoryShared', { heldBytes: size })
            : t('models.memory', { heldBytes: size });
      return (
        <p className="mt-4 text-small tabular-nums">
          <span className="text-ok">{t('models.inUse')}</span>
          <span className="text-text-2"> · {memory}</span>
        </p>
      );
    }
    case 'loading':
      return <p className="mt-4 text-small text-text-2">{t('models.loadingModel')}</p>;
    case 'here':
      return <p className="mt-4 text-small text-text-2">{t('models.here')}</p>;
    case 'unproven':
      return <p className="mt-4 text-small text-warn">{t('models.unproven')}</p>;
    case 'rejected':
      return (
        <p className="mt-4 text-small text-danger">
          {t('models.rejected')}
          {row.installed?.reason == null ? '' : `: ${row.installed.reason}`}
        </p>
      );
    case 'notHere':
      return <p className="mt-4 text-small text-text-3">{t('models.notHere')}</p>;
  }
}

/** What the engines hold, looked at now and then while the place is open. What cannot be read is shown as not loaded. */
function useLoaded(): Loaded {
  const { api, clock } = useServices();
  const connection = useConnection();
  const language = useLive('language').value?.state;
  const open = connection.kind === 'open' ? connection.number : 0;
  const [loaded, setLoaded] = useState<Loaded>([]);
  const [looks, setLooks] = useState(0);
  const when = `${looks} ${language}`;
  useEffect(() => {
    if (open === 0) return;
    let left = false;
    const again = clock.setTimer(lookEveryMs, () => setLooks((n) => n + 1));
    api.models.loaded({}).then(
      ({ engines }) => !left && setLoaded(engines),
      () => !left && setLoaded([]),
    );
    return () => {
      left = true;
      again();
    };
  }, [api, clock, open, when]);
  return loaded;
}

function nameOf(language: string): string {
  return new Intl.DisplayNames('en', { type: 'language' }).of(language) ?? language;
}
