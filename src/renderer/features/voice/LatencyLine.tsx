import { ChevronDown } from 'lucide-react';
import { Popover } from 'radix-ui';
import type { LatencyRecord } from '../../../shared/domain/voiceLatency.ts';
import { latencyWords, Waterfall } from '../../components/Waterfall.tsx';
import { useTexts } from '../../lib/texts.ts';

/** How long the last spoken turn took to its first sound; a press shows where that time went (UX-117). */
export function LatencyLine({ record }: { record: LatencyRecord }) {
  const t = useTexts();
  const words = latencyWords(t, record);
  if (words === null) return null;
  return (
    <Popover.Root>
      <Popover.Trigger className="move-press -ml-4 inline-flex min-h-target items-center gap-4 rounded-field px-4 text-small text-text-2 tabular-nums hover:bg-hover hover:text-text">
        {words}
        <ChevronDown size={16} strokeWidth={1.75} aria-hidden="true" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          side="top"
          align="start"
          sideOffset={4}
          collisionPadding={8}
          aria-label={t('voice.latency.title')}
          className="move-menu z-20 max-h-[var(--radix-popover-content-available-height)] w-[min(26rem,calc(100vw-2rem))] overflow-y-auto rounded-card border border-line bg-raised p-16 shadow-menu"
        >
          <h2 className="mb-12 text-heading">{t('voice.latency.title')}</h2>
          <Waterfall record={record} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
