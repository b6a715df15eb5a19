import { Progress } from '../../components/Progress.tsx';
import { duration, number, percent, timeLeft } from '../../lib/format.ts';
import type { Growing, Stage } from '../../lib/sessionMirror.ts';
import { type Texts, useTexts } from '../../lib/texts.ts';
import { useNow } from '../../lib/useNow.ts';

/** Slow progress still moves within this; longer without any is called a stall (UX-27). */
export const stallMs = 15_000;

/** What happens before the first word, and whether it still moves. Figures are those that the model reported. */
export function StageLine(props: { growing: Growing | null; stopping: boolean; onlyStall?: boolean }) {
  const t = useTexts();
  const now = useNow();
  const stage: Stage = props.growing?.stage ?? { kind: 'waiting' };
  const still = props.growing === null ? 0 : now - props.growing.movedAt;
  const fraction =
    stage.kind === 'loading' ? stage.fraction : stage.kind === 'reading' && stage.total > 0 ? stage.done / stage.total : null;
  const words = props.stopping ? t('stage.stopping') : stageWords(t, stage);
  const stall = still >= stallMs && !props.stopping && (
    <p className="mt-4 text-small text-warn tabular-nums">{t('stage.stalled', { time: duration(Math.floor(still / 1000) * 1000) })}</p>
  );
  if (props.onlyStall) return stall;
  return (
    <div className="text-small text-text-2 tabular-nums">
      <p>
        {words}
        {stage.kind === 'thinking' && !props.stopping && still >= 1000 && (
          <span className="text-text-3"> · {duration(Math.floor(still / 1000) * 1000)}</span>
        )}
      </p>
      {fraction !== null && !props.stopping && (
        <div className="mt-8 max-w-list">
          <Progress label={words} fraction={fraction} words={words} />
        </div>
      )}
      {stall}
    </div>
  );
}

export function stageWords(t: Texts, stage: Stage): string {
  switch (stage.kind) {
    case 'waiting':
      return t('stage.waiting');
    case 'loading':
      return t('stage.loading', { percent: percent(stage.fraction) });
    case 'reading': {
      const figures = { done: number(stage.done), total: number(stage.total) };
      const left = timeLeft(stage.etaMs);
      return left === null ? t('stage.reading', figures) : t('stage.readingLeft', { ...figures, left });
    }
    case 'thinking':
      return t('stage.thinking');
    case 'writing':
      return t('stage.writing');
  }
}
