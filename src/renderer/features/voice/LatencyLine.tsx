import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import type { LatencyRecord } from '../../../shared/domain/voiceLatency.ts';
import { latencyWords, Waterfall } from '../../components/Waterfall.tsx';
import { useTexts } from '../../lib/texts.ts';

/** How long the last spoken turn took to its first sound, and where that time went (UX-117). */
export function LatencyLine({ record }: { record: LatencyRecord }) {
  const t = useTexts();
  const [open, setOpen] = useState(false);
  const words = latencyWords(t, record);
  if (words === null) return null;
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="move-press -ml-4 inline-flex min-h-target items-center gap-4 rounded-field px-4 text-small text-text-2 tabular-nums hover:bg-hover hover:text-text"
      >
        <ChevronRight size={16} strokeWidth={1.75} aria-hidden="true" className={open ? 'rotate-90' : ''} />
        {words}
      </button>
      {open && (
        <div className="card mt-4 p-16">
          <Waterfall record={record} />
        </div>
      )}
    </div>
  );
}
