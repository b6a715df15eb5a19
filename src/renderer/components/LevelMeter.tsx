import type { ReactNode } from 'react';
import { dbfs, type Level, levelWord } from '../../shared/domain/voiceSignal.ts';
import { decibels } from '../lib/format.ts';
import { useTexts } from '../lib/texts.ts';

/** What is drawn: a room at night to full scale. dBFS. */
const least = -60;
/** From the first on it is good, from the second on loud (`levelWord`). */
const marks = [-40, -8] as const;

const share = (db: number | null) => (db === null ? 0 : Math.min(1, Math.max(0, (db - least) / -least)));

/**
 * Level of a microphone with its marks (UX-115): where good begins and ends, the noise of the room, and a word beside it, since colour is
 * never the only sign. Nothing moves by itself: what is drawn is what arrived.
 *
 * @param level     of the last frames; null while none came.
 * @param children  stands before the words, e.g. the device's name.
 */
export function LevelMeter(props: { device: string; level: Level | null; children?: ReactNode }) {
  const t = useTexts();
  const { level } = props;
  const db = level === null || level.zeros ? null : dbfs(level.rms);
  const word = level === null ? '' : t(`level.words.${levelWord(level)}`);
  const words = db === null ? word : t('level.value', { word, db: decibels(db) });
  const floor = level?.floor == null ? null : dbfs(level.floor);
  const bad = level !== null && (level.clipped || level.zeros);
  return (
    <div className="min-w-0 flex-1">
      <div className="flex items-baseline justify-between gap-16">
        <span className="min-w-0 flex-1 truncate">{props.children}</span>
        <span aria-hidden="true" className={`shrink-0 text-micro tabular-nums ${bad ? 'text-danger' : 'text-text-2'}`}>
          {words}
        </span>
      </div>
      <div
        role="meter"
        aria-label={t('level.label', { device: props.device })}
        aria-valuemin={least}
        aria-valuemax={0}
        aria-valuenow={Math.round(Math.max(least, db ?? least))}
        aria-valuetext={words === '' ? '?' : words}
        className="relative mt-4 h-8 w-full overflow-hidden rounded-full bg-line"
      >
        <div className={`h-full ${bad ? 'bg-danger' : 'bg-accent'}`} style={{ width: `${share(db) * 100}%` }} />
        {marks.map((mark) => (
          <div key={mark} className="absolute inset-y-0 w-px bg-page" style={{ left: `${share(mark) * 100}%` }} />
        ))}
        {floor !== null && (
          <div
            title={t('level.floor', { db: decibels(floor) })}
            className="absolute inset-y-0 w-px bg-text-2"
            style={{ left: `${share(floor) * 100}%` }}
          />
        )}
      </div>
    </div>
  );
}
