import { ArrowUpRight, Info, Monitor, X } from 'lucide-react';
import { Popover } from 'radix-ui';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useStore } from 'zustand';
import type { TurnSummary, Usage } from '../../../shared/domain/session.ts';
import { Hint, IconButton } from '../../components/IconButton.tsx';
import { duration, number } from '../../lib/format.ts';
import { useServices } from '../../lib/services.tsx';
import { useTexts } from '../../lib/texts.ts';

const Waterfall = lazy(() => import('../../components/Waterfall.tsx').then((module) => ({ default: module.Waterfall })));

/** Figures of one answer; what is not known is "?" and never 0 (UX-09, UX-29). Opened from outside too, by the message's menu. */
export function Details(props: { turn: TurnSummary; open: boolean; onOpen: (open: boolean) => void }) {
  const t = useTexts();
  const [more, setMore] = useState(false);
  const usage = props.turn.usage;
  const { latency } = useServices();
  const record = useStore(latency.records, (records) => records.get(props.turn.id) ?? null);
  useEffect(() => {
    if (props.open) latency.load();
  }, [props.open, latency]);
  const rows: [string, string][] = [
    [t('details.model'), usage?.model ?? '?'],
    [t('details.first'), usage?.firstTokenMs == null ? '?' : t('details.firstValue', { value: duration(usage.firstTokenMs) })],
    [t('details.speed'), usage?.tokensPerSecond == null ? '?' : t('details.speedValue', { value: number(usage.tokensPerSecond, 1) })],
    [
      t('details.tokens'),
      usage == null ? '?' : t('details.tokensValue', { output: number(usage.outputTokens), prompt: number(usage.promptTokens) }),
    ],
    [t('details.where'), usage == null ? '?' : usage.where === 'here' ? t('details.here') : t('details.away')],
  ];
  const moreRows: [string, string][] = [
    [t('details.total'), duration(usage?.totalMs)],
    [
      t('details.reused'),
      usage == null ? '?' : t('details.reusedValue', { count: number(usage.reusedTokens), total: number(usage.promptTokens) }),
    ],
    [t('details.stop'), props.turn.stopReason === null ? '?' : t(`details.stopReasons.${props.turn.stopReason}`)],
    [t('details.attempt'), number(props.turn.attempt)],
    [t('details.id'), props.turn.id],
  ];
  return (
    <Popover.Root open={props.open} onOpenChange={props.onOpen}>
      <Hint text={t('message.details')}>
        <Popover.Trigger
          aria-label={t('message.details')}
          className="move-press inline-flex size-target items-center justify-center rounded-field text-text-3 hover:bg-hover hover:text-text"
        >
          <Info size={16} strokeWidth={1.75} aria-hidden="true" />
        </Popover.Trigger>
      </Hint>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          aria-label={t('details.title')}
          // The first button would open its tooltip over the figures.
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
          }}
          className="move-menu z-20 max-h-[var(--radix-popover-content-available-height)] overflow-y-auto w-[min(22rem,calc(100vw-1rem))] rounded-card border border-line bg-raised p-16 shadow-menu"
        >
          <div className="flex items-center justify-between">
            <h2 className="text-heading">{t('details.title')}</h2>
            <Popover.Close asChild>
              <IconButton icon={X} name={t('app.close')} className="-mt-4 -mr-8" />
            </Popover.Close>
          </div>
          <Facts rows={more ? [...rows, ...moreRows] : rows} />
          {record !== null && (
            <section aria-label={t('voice.latency.title')} className="mt-16 border-t border-line pt-12">
              <h3 className="mb-8 text-small font-medium text-text-2">{t('voice.latency.title')}</h3>
              <Suspense fallback={null}>
                <Waterfall record={record} />
              </Suspense>
            </section>
          )}
          <button
            type="button"
            aria-expanded={more}
            onClick={() => setMore(!more)}
            className="move-press mt-8 -ml-8 h-target rounded-field px-8 text-small text-text-2 hover:bg-hover hover:text-text"
          >
            {more ? t('app.less') : t('app.more')}
          </button>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

export function Facts({ rows }: { rows: readonly (readonly [string, string])[] }) {
  return (
    <dl className="mt-8 grid grid-cols-[auto_1fr] gap-x-16 gap-y-4 text-small">
      {rows.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-text-2">{name}</dt>
          <dd className="min-w-0 text-text tabular-nums [overflow-wrap:anywhere]">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Here or away, always with the same two signs (UX-04, UX-278). */
export function Where({ where }: { where: Usage['where'] }) {
  const t = useTexts();
  const Icon = where === 'here' ? Monitor : ArrowUpRight;
  return (
    <span className="inline-flex items-center gap-4">
      <Icon size={12} strokeWidth={1.75} aria-hidden="true" />
      {where === 'here' ? t('composer.here') : t('details.away')}
    </span>
  );
}
