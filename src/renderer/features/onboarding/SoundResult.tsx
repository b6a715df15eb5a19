import { useEffect, useRef } from 'react';
import { decibels } from '../../lib/format.ts';
import type { SoundCheck } from '../../lib/soundCheck.ts';
import { useTexts } from '../../lib/texts.ts';

/** Level, clipping and room noise of what was recorded: a word, the figure, and what would help (UX-19). */
export function SoundResult({ check }: { check: SoundCheck }) {
  const t = useTexts();
  const list = useRef<HTMLDListElement>(null);
  // In a low window it comes about below the fold, and it is what was asked for.
  useEffect(() => {
    // Newer engines return a promise here, which is no way to end an effect.
    void list.current?.scrollIntoView({ block: 'center' });
  }, [check]);
  const withDb = (word: string, db: number | null) => (db === null ? word : t('level.value', { word, db: decibels(db) }));
  const rows = [
    {
      name: t('onboarding.microphone.loudness'),
      word: withDb(t(`level.words.${check.loudness}`), check.level),
      advice: t(`level.advice.${check.loudness}`),
      good: check.loudness === 'good' || check.loudness === 'loud',
    },
    {
      name: t('onboarding.microphone.clipping'),
      word: t(`level.clip.${check.clipping}`),
      advice: t(`level.clipAdvice.${check.clipping}`),
      good: check.clipping !== 'much',
    },
    {
      name: t('onboarding.microphone.noise'),
      word: withDb(t(`level.room.${check.noise}`), check.floor),
      advice: t(`level.roomAdvice.${check.noise}`),
      good: check.noise !== 'loud',
    },
  ];
  return (
    <dl ref={list} aria-label={t('onboarding.microphone.result')} className="mt-16 border-t border-line">
      {rows.map(({ name, word, advice, good }) => (
        <div key={name} className="flex flex-wrap items-baseline gap-x-16 border-b border-line py-8">
          <dt className="flex-1 text-ui text-text-2">{name}</dt>
          <dd className={`text-ui font-medium tabular-nums ${good ? 'text-text' : 'text-warn'}`}>{word}</dd>
          <dd className="basis-full text-small text-text-2">{advice}</dd>
        </div>
      ))}
    </dl>
  );
}
