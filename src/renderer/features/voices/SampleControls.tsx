import { useState } from 'react';
import { number } from '../../lib/format.ts';
import { useTexts } from '../../lib/texts.ts';

/** VO-96. */
const longestSentence = 200;
const speeds = { min: 0.5, max: 2, step: 0.1 } as const;

/** What is said as a sample, and how fast; the speed is that of all answers too. */
export function SampleControls(props: {
  sentence: string;
  onSentence: (text: string) => void;
  speed: number;
  onSpeed: (speed: number) => void;
}) {
  const t = useTexts();
  // While it is dragged the handle stays under the finger, whatever the runtime has stored so far.
  const [dragged, setDragged] = useState<number | null>(null);
  const speed = dragged ?? props.speed;
  const words = t('voices.speedValue', { speed: number(speed, 1) });
  const settle = () => {
    if (dragged !== null && dragged !== props.speed) props.onSpeed(dragged);
    setDragged(null);
  };
  return (
    <div className="mt-16 flex flex-wrap items-end gap-16">
      <label className="min-w-rail flex-1 text-small text-text-2">
        {t('voices.own')}
        <input
          type="text"
          value={props.sentence}
          maxLength={longestSentence}
          placeholder={t('voices.ownHint')}
          dir="auto"
          onChange={(event) => props.onSentence(event.target.value)}
          className="mt-4 block h-control w-full rounded-field border border-control bg-surface px-12 text-ui text-text placeholder:text-text-3"
        />
      </label>
      <label className="text-small text-text-2">
        <span className="flex justify-between gap-16">
          <span>{t('voices.speed')}</span>
          <span className="tabular-nums">{words}</span>
        </span>
        <input
          type="range"
          {...speeds}
          value={speed}
          aria-valuetext={words}
          onChange={(event) => setDragged(Number(event.target.value))}
          onPointerUp={settle}
          onKeyUp={settle}
          onBlur={settle}
          className="mt-4 h-control accent-accent"
        />
      </label>
    </div>
  );
}
