import { useEffect, useId, useState } from 'react';
import type { MachineInfo } from '../../../shared/contract/machine.ts';
import type { DownloadJob } from '../../../shared/domain/models.ts';
import { starterBundle } from '../../../shared/domain/starterBundle.ts';
import type { AppError } from '../../../shared/errors/appError.ts';
import { Button } from '../../components/Button.tsx';
import { Dialog } from '../../components/Dialog.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { Progress } from '../../components/Progress.tsx';
import { StillRows } from '../../components/StillRows.tsx';
import type { Api } from '../../lib/connection.ts';
import { bytes, percent, speed, timeLeft } from '../../lib/format.ts';
import { type DownloadDeeds, hostsOf, useDownloadDeeds, useModelList } from '../../lib/models.ts';
import { useConnection, useLive, useServices } from '../../lib/services.tsx';
import { useTexts } from '../../lib/texts.ts';
import { useRead } from '../../lib/useRead.ts';
import { BundleRows } from './BundleRows.tsx';
import { type BundleView, bundleView } from './bundle.ts';
import { StepFrame } from './StepFrame.tsx';
import type { StepProps } from './steps.ts';

/** Looked at again so often while this step is open: space comes and goes. */
const lookEveryMs = 10_000;

/** What this machine is, and the one bundle that makes it talk (UX-21, REC-08). */
export function MachineStep({ settings, keep, go }: StepProps) {
  const t = useTexts();
  const group = useId();
  const found = useMachine();
  const list = useModelList();
  const deeds = useDownloadDeeds();
  const jobs = useLive('downloads').value?.jobs ?? [];
  const use = settings.typeOnly ? 'type' : 'talk';
  const bundle = list.entries === null ? null : bundleView(starterBundle(list.entries, use), list.installed, jobs);
  const ready = bundle?.state === 'ready';
  const get = bundle === null || ready ? undefined : <Get bundle={bundle} offline={found.machine?.offline === true} deeds={deeds} />;
  return (
    <StepFrame step="machine" title={t('onboarding.machine.title')} done={ready} deed={get} go={go}>
      <Found machine={found.machine} error={found.error} retry={found.retry} />
      <fieldset className="mt-24 flex flex-wrap items-center justify-between gap-8">
        <legend className="float-left text-heading">{t('onboarding.machine.use')}</legend>
        <div className="flex flex-wrap gap-8">
          {(['talk', 'type'] as const).map((id) => (
            <label
              key={id}
              data-chosen={id === use || undefined}
              className={`move-press flex h-control items-center rounded-field border px-12 text-ui has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent ${
                id === use ? 'border-accent bg-accent-soft font-medium text-text' : 'border-control text-text-2 hover:bg-hover'
              }`}
            >
              <input
                type="radio"
                name={group}
                value={id}
                checked={id === use}
                onChange={() => void keep({ typeOnly: id === 'type' })}
                className="sr-only"
              />
              {t(`onboarding.machine.uses.${id}`)}
            </label>
          ))}
        </div>
      </fieldset>
      <section aria-label={t('onboarding.machine.bundle')} className="mt-24">
        <h2 className="text-heading">{t('onboarding.machine.bundle')}</h2>
        <p className="mt-4 text-small text-text-2">{t('onboarding.machine.bundleAbout')}</p>
        {bundle === null ? (
          list.error === null ? (
            <StillRows label={t('model.catalogueLoading')} count={4} />
          ) : (
            <div className="mt-12">
              <ErrorCard error={list.error} run={{ retry: list.reload, restart: list.reload }} />
            </div>
          )
        ) : bundle.rows.length === 0 ? (
          <p className="mt-12 text-ui text-text-2">{t('onboarding.machine.unreadable')}</p>
        ) : (
          <Bundle bundle={bundle} machine={found.machine} deeds={deeds} />
        )}
      </section>
    </StepFrame>
  );
}

/** Gets what is missing. While that runs it is not offered: the figures have its place. */
function Get({ bundle, offline, deeds }: { bundle: BundleView; offline: boolean; deeds: DownloadDeeds }) {
  const t = useTexts();
  const connection = useConnection();
  const { state } = bundle;
  if (bundle.missing.length === 0 || moving(state)) return null;
  const size = bytes(bundle.leftBytes);
  const words =
    state === 'paused'
      ? t('onboarding.machine.resume')
      : bundle.rows.length === 1
        ? t('onboarding.machine.getOne', { size })
        : bundle.receivedBytes > 0
          ? t('onboarding.machine.getRest', { size })
          : t('onboarding.machine.get', { size });
  return (
    <Button
      look="primary"
      disabled={connection.kind !== 'open' || offline}
      onClick={() => void deeds.get(bundle.missing.map(({ id }) => id))}
    >
      {words}
    </Button>
  );
}

const moving = (state: BundleView['state']) => state === 'running' || state === 'checking' || state === 'waiting';

const readMachine = (api: Api) => api.machine.info({});

/** What this machine has now: free room changes while a person reads. */
function useMachine() {
  const { clock } = useServices();
  const { value, error, reload } = useRead(readMachine);
  // Of each look, also of one that failed, the next one follows.
  useEffect(() => (value === null && error === null ? undefined : clock.setTimer(lookEveryMs, reload)), [clock, value, error, reload]);
  return { machine: value, error, retry: reload };
}

const systems = ['linux', 'darwin', 'win32'] as const;

function Found(props: { machine: MachineInfo | null; error: AppError | null; retry: () => void }) {
  const t = useTexts();
  const { machine } = props;
  if (machine === null)
    return props.error === null ? (
      <StillRows label={t('onboarding.machine.looking')} count={4} />
    ) : (
      <ErrorCard error={props.error} run={{ retry: props.retry, restart: props.retry }} />
    );
  const known = systems.find((name) => name === machine.platform);
  const system = known === undefined ? machine.platform : t(`onboarding.machine.systems.${known}`);
  const { memory, disk } = machine;
  const rows = [
    [
      t('onboarding.machine.processor'),
      [
        machine.processor ?? t('onboarding.machine.processorUnknown'),
        t('onboarding.machine.threads', { count: machine.threads }),
        `${system} ${machine.architecture}`,
        ...(machine.cpuVariant === null ? [] : [t('onboarding.machine.variant', { variant: machine.cpuVariant })]),
      ].join(' · '),
    ],
    [
      t('onboarding.machine.memory'),
      t('onboarding.machine.memoryFree', { free: bytes(memory.freeBytes), total: bytes(memory.totalBytes) }),
    ],
    [
      t('onboarding.machine.disk'),
      disk.freeBytes === null ? t('onboarding.machine.diskUnknown') : t('onboarding.machine.diskFree', { free: bytes(disk.freeBytes) }),
    ],
  ] as const;
  return (
    <section aria-label={t('onboarding.machine.found')}>
      <h2 className="text-heading">{t('onboarding.machine.found')}</h2>
      <Rows rows={rows} />
    </section>
  );
}

function Rows({ rows }: { rows: readonly (readonly [string, string])[] }) {
  return (
    <dl className="mt-8 border-t border-line text-ui">
      {rows.map(([name, value]) => (
        <div key={name} className="flex items-baseline gap-16 border-b border-line py-4">
          <dt className="w-rail-narrow shrink-0 grow text-text-2">{name}</dt>
          <dd className="text-end tabular-nums [overflow-wrap:anywhere]">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Bundle(props: { bundle: BundleView; machine: MachineInfo | null; deeds: DownloadDeeds }) {
  const t = useTexts();
  const { bundle, machine, deeds } = props;
  const [cancelling, setCancelling] = useState<readonly DownloadJob[] | null>(null);
  const noNetwork = useNoNetwork(bundle);
  const { state } = bundle;
  const missing = bundle.missing.map(({ id }) => id);
  const getAll = () => void deeds.get(missing);
  const cancel = (jobs: readonly DownloadJob[]) => (jobs.some(({ received }) => received > 0) ? setCancelling(jobs) : deeds.cancel(jobs));
  const moves = moving(state);
  return (
    <>
      <Sums bundle={bundle} machine={machine} />
      {moves || state === 'paused' || state === 'stopped' ? <Sum bundle={bundle} /> : null}
      {state === 'ready' && <p className="mt-16 text-ui text-ok">{t('onboarding.machine.ready')}</p>}
      {machine?.offline === true && state !== 'ready' && (
        <Note what={t('onboarding.machine.offline')} does={t('onboarding.machine.offlineDo')} />
      )}
      {machine?.offline !== true && noNetwork && state !== 'ready' && (
        <Note what={t('onboarding.machine.noNetwork')} does={t('onboarding.machine.noNetworkDo')} />
      )}
      {deeds.error !== null && (
        <div className="mt-16">
          <ErrorCard
            error={deeds.error}
            run={{ retry: getAll, resumeDownload: getAll, startOver: getAll, get: getAll, dismiss: deeds.clear }}
          />
        </div>
      )}
      {(moves || bundle.jobs.length > 0) && (
        <div className="mt-16 flex flex-wrap items-center gap-8">
          {(state === 'running' || state === 'waiting') && (
            <Button onClick={() => deeds.pause(bundle.jobs.filter(({ phase }) => phase !== 'paused' && phase !== 'verifying'))}>
              {t('onboarding.machine.pause')}
            </Button>
          )}
          {moves && missing.length > 0 && (
            <Button onClick={getAll}>{t('onboarding.machine.getRest', { size: bytes(sumOf(bundle)) })}</Button>
          )}
          {bundle.jobs.length > 0 && state !== 'checking' && (
            <Button look="quiet" onClick={() => cancel(bundle.jobs.filter(({ phase }) => phase !== 'verifying'))}>
              {t('onboarding.machine.cancel')}
            </Button>
          )}
        </div>
      )}
      <div className="mt-16">
        <BundleRows rows={bundle.rows} onGet={(id) => void deeds.get([id])} />
      </div>
      {state !== 'ready' && !moves && (
        <p className="mt-8 text-small text-text-3">{t('onboarding.machine.from', { hosts: hostsOf(bundle.missing) })}</p>
      )}
      <Dialog
        open={cancelling !== null}
        onClose={() => setCancelling(null)}
        title={t('onboarding.machine.cancelTitle')}
        body={t('onboarding.machine.cancelBody', { size: bytes(receivedOf(cancelling ?? [])) })}
      >
        <Button onClick={() => setCancelling(null)}>{t('onboarding.machine.cancelKeep')}</Button>
        <Button
          look="danger"
          onClick={() => {
            deeds.cancel(cancelling ?? []);
            setCancelling(null);
          }}
        >
          {t('onboarding.machine.cancelAsk', { size: bytes(receivedOf(cancelling ?? [])) })}
        </Button>
      </Dialog>
    </>
  );
}

const receivedOf = (jobs: readonly DownloadJob[]) => jobs.reduce((sum, { received }) => sum + received, 0);
const sumOf = ({ missing }: BundleView) => missing.reduce((sum, { file }) => sum + file.bytes, 0);

/** Size, space and time, each with what is known of it (UX-09). */
function Sums({ bundle, machine }: { bundle: BundleView; machine: MachineInfo | null }) {
  const t = useTexts();
  const { totalBytes, leftBytes, leftMs, state } = bundle;
  if (state === 'ready')
    return <Rows rows={[[t('onboarding.machine.sum'), t('onboarding.machine.sumHere', { size: bytes(totalBytes) })]]} />;
  const free = machine?.disk.freeBytes ?? null;
  const kept = machine?.disk.keptFreeBytes ?? 0;
  const isShort = free !== null && free < leftBytes + kept;
  const left = leftMs === null ? null : timeLeft(leftMs);
  const space = isShort
    ? t('onboarding.machine.spaceShort', { need: bytes(leftBytes), kept: bytes(kept), free: bytes(free) })
    : t('onboarding.machine.spaceWords', { need: bytes(leftBytes), free: bytes(free) });
  const rows = [
    [
      t('onboarding.machine.sum'),
      leftBytes < totalBytes ? t('onboarding.machine.sumLeft', { size: bytes(totalBytes), left: bytes(leftBytes) }) : bytes(totalBytes),
    ],
    [t('onboarding.machine.space'), space],
    [
      t('onboarding.machine.time'),
      left !== null
        ? t('onboarding.machine.timeLeft', { left })
        : t(state === 'idle' || state === 'running' ? 'onboarding.machine.timeUnknown' : 'onboarding.machine.timeWaits'),
    ],
  ] as const;
  const tight = machine !== null && totalBytes > machine.memory.freeBytes;
  return (
    <>
      <Rows rows={rows} />
      {tight && <p className="mt-8 text-small text-warn">{t('onboarding.machine.memoryTight')}</p>}
    </>
  );
}

/** The bar over all files. */
function Sum({ bundle }: { bundle: BundleView }) {
  const t = useTexts();
  const { receivedBytes, totalBytes, state } = bundle;
  const words = {
    idle: '',
    ready: '',
    running: t('onboarding.machine.running'),
    checking: t('onboarding.machine.checking'),
    waiting: t('onboarding.machine.waiting'),
    paused: t('onboarding.machine.paused'),
    stopped: t('onboarding.machine.stopped'),
  }[state];
  const perSecond = bundle.jobs.reduce((sum, job) => sum + (job.phase === 'downloading' ? job.bytesPerSec : 0), 0);
  const fraction = totalBytes === 0 ? null : receivedBytes / totalBytes;
  const received = t('onboarding.machine.received', { received: bytes(receivedBytes), total: bytes(totalBytes) });
  const figures = state === 'running' ? `${received} · ${speed(perSecond)}` : received;
  return (
    <div className="mt-16" data-testid="bundle">
      <div className="flex items-baseline justify-between gap-16 text-small">
        <span className="font-medium text-text">{words}</span>
        {fraction !== null && <span className="text-text-2 tabular-nums">{percent(fraction)}</span>}
      </div>
      <div className="mt-8">
        <Progress label={t('onboarding.machine.progress', { state: words })} fraction={fraction} words={`${words} ${figures}`} />
      </div>
      <p className="mt-8 text-small text-text-2 tabular-nums">{figures}</p>
    </div>
  );
}

function Note({ what, does }: { what: string; does: string }) {
  return (
    <div role="status" className="soft-warn mt-16 rounded-card p-16 text-ui">
      <p className="font-medium">{what}</p>
      <p className="mt-4 text-text-2">{does}</p>
    </div>
  );
}

/** What a download has found out counts, and what the system says of its network. */
function useNoNetwork(bundle: BundleView): boolean {
  const [online, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const look = () => setOnline(navigator.onLine);
    window.addEventListener('online', look);
    window.addEventListener('offline', look);
    return () => {
      window.removeEventListener('online', look);
      window.removeEventListener('offline', look);
    };
  }, []);
  return !online || bundle.rows.some(({ job }) => job?.waitingFor === 'network' || job?.error?.code === 'NO_NETWORK');
}
