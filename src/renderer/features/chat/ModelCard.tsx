import { ChevronRight } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { CatalogueEntry } from '../../../shared/domain/models.ts';
import { type AppError, toAppError } from '../../../shared/errors/appError.ts';
import { Button } from '../../components/Button.tsx';
import { Dialog } from '../../components/Dialog.tsx';
import { DownloadState } from '../../components/DownloadState.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { bytes } from '../../lib/format.ts';
import { activeJobOf, hostsOf, jobOf } from '../../lib/models.ts';
import { useConnection, useLive, useServices } from '../../lib/services.tsx';
import { type Texts, useTexts } from '../../lib/texts.ts';
import { Facts } from './Details.tsx';

/** Shown in the chat as long as nothing can answer: what would be fetched, from where, and how far it is. */
export function ModelCard() {
  const t = useTexts();
  const { api } = useServices();
  const connection = useConnection();
  const jobs = useLive('downloads').value?.jobs ?? [];
  const [entry, setEntry] = useState<CatalogueEntry | null | 'none'>(null);
  const [error, setError] = useState<AppError | null>(null);
  const [cancelling, setCancelling] = useState(false);

  const open = connection.kind === 'open' ? connection.number : 0;
  useEffect(() => {
    if (open === 0) return;
    api.models.catalogue({}).then(
      ({ entries }) => setEntry(entries.find((e) => e.starter && e.slot === 'language') ?? entries[0] ?? 'none'),
      (thrown: unknown) => setError(toAppError(thrown)),
    );
  }, [api, open]);

  const run = (deed: () => Promise<unknown>) => {
    setError(null);
    deed().catch((thrown: unknown) => setError(toAppError(thrown)));
  };

  if (entry === null)
    return error === null ? <p className="text-small text-text-2">{t('model.catalogueLoading')}</p> : <ErrorCard error={error} />;
  if (entry === 'none') return <p className="text-ui text-text-2">{t('model.none')}</p>;

  const job = jobOf(jobs, entry.id);
  const active = activeJobOf(jobs, entry.id);
  const get = () => run(() => api.models.startDownload({ modelId: entry.id }));
  const resume = () => active !== null && run(() => api.models.resumeDownload({ jobId: active.jobId }));
  const cancel = () => {
    setCancelling(false);
    if (active !== null) run(() => api.models.cancelDownload({ jobId: active.jobId }));
  };

  return (
    <section id="get-model" aria-label={t('model.title')} className="card mb-24 p-16">
      <h2 className="text-heading">{t('model.title')}</h2>
      <p className="mt-4 text-ui text-text-2">{t('model.body')}</p>
      <Facts
        rows={[
          [t('model.name'), entry.name],
          [t('model.size'), bytes(entry.file.bytes)],
          [t('model.licence'), entry.licence.id],
          [t('model.from'), originOf(t, entry)],
        ]}
      />
      <p className="mt-12 text-small text-text-2">{entry.about}</p>
      {active !== null && (
        <div className="mt-16">
          <DownloadState job={active} name={entry.name} totalBytes={entry.file.bytes} />
        </div>
      )}
      {job?.phase === 'cancelled' && <p className="mt-12 text-small text-text-2">{t('model.phase.cancelled')}</p>}
      {job?.phase === 'installed' && <p className="mt-12 text-small text-ok">{t('model.phase.installed')}</p>}
      {active?.error != null && active.phase === 'failed' && (
        <div className="mt-12">
          <ErrorCard error={active.error} run={{ resumeDownload: active.resumable ? resume : get, startOver: get, retry: get, get }} />
        </div>
      )}
      {error !== null && (
        <div className="mt-12">
          <ErrorCard error={error} run={{ retry: get, resumeDownload: get, startOver: get, get, dismiss: () => setError(null) }} />
        </div>
      )}
      <div className="mt-16 flex flex-wrap items-center gap-8">
        {active === null && job?.phase !== 'installed' && (
          <Button look="primary" onClick={get} disabled={connection.kind !== 'open'}>
            {t('model.get', { size: bytes(entry.file.bytes) })}
          </Button>
        )}
        {active?.phase === 'downloading' && (
          <Button onClick={() => run(() => api.models.pauseDownload({ jobId: active.jobId }))}>{t('model.pause')}</Button>
        )}
        {(active?.phase === 'paused' || active?.phase === 'waiting') && <Button onClick={resume}>{t('model.resume')}</Button>}
        {active !== null && active.phase !== 'verifying' && (
          <Button onClick={() => (active.received > 0 ? setCancelling(true) : cancel())}>{t('model.cancel')}</Button>
        )}
      </div>
      {active === null && <p className="mt-8 text-small text-text-3">{t('model.goesTo', { hosts: hostsOf([entry]) })}</p>}
      <More entry={entry} />
      <Dialog
        open={cancelling && active !== null}
        onClose={() => setCancelling(false)}
        title={t('model.cancelTitle')}
        body={t('model.cancelBody', { size: bytes(active?.received) })}
      >
        <Button onClick={() => setCancelling(false)}>{t('model.cancelKeep')}</Button>
        <Button look="danger" onClick={cancel}>
          {t('model.cancelAsk', { size: bytes(active?.received) })}
        </Button>
      </Dialog>
    </section>
  );
}

function More({ entry }: { entry: CatalogueEntry }) {
  const t = useTexts();
  const [open, setOpen] = useState(false);
  return (
    <div className="mt-8">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="move-press -ml-8 inline-flex h-target items-center gap-4 rounded-field px-8 text-small text-text-2 hover:bg-hover hover:text-text"
      >
        <ChevronRight size={16} strokeWidth={1.75} aria-hidden="true" className={open ? 'rotate-90' : ''} />
        {t('app.more')}
      </button>
      {open && (
        <>
          <Facts
            rows={[
              [t('model.file'), entry.file.name],
              [t('model.parameters'), entry.parameters],
              [t('model.hash'), entry.file.sha256],
            ]}
          />
          <p className="mt-8 text-small text-text-2">{t('model.proof')}</p>
        </>
      )}
    </div>
  );
}

function originOf(t: Texts, entry: CatalogueEntry): string {
  return entry.sources
    .map((source) =>
      source.kind === 'hub'
        ? new URL(source.url).host
        : t('model.fromPackages', { count: source.parts.length, client: source.client, name: source.parts[0]?.name ?? '?' }),
    )
    .join(', ');
}
