import { useEffect, useRef } from 'react';
import { dbfs } from '../../shared/domain/voiceSignal.ts';
import { duration } from '../lib/format.ts';
import { historyFrames, type LevelSample } from '../lib/levelHistory.ts';
import { useServices } from '../lib/services.tsx';
import { useTexts } from '../lib/texts.ts';
import { useLevels } from '../lib/useLevels.ts';
import { useMedia } from '../lib/useMedia.ts';

const barPx = 2;
const gapPx = 1;
/** What is drawn: from a quiet room to full scale. dBFS. */
const leastDb = -60;
const steps = 10;

/** 0…1 of the height; loudness is heard by its logarithm. */
const share = (rms: number) => {
  const db = dbfs(rms);
  return db === null ? 0 : Math.min(1, Math.max(0, (db - leastDb) / -leastDb));
};

/**
 * The sound of the last four seconds, as it truly arrived (UX-114): speech in the accent, other sound paler; still when it is silent.
 * With reduced motion it is a level of ten steps. What it shows stands beside it in words.
 */
export function Waveform({ size = 'bar' }: { size?: 'bar' | 'hero' }) {
  const reduced = useMedia('(prefers-reduced-motion: reduce)');
  return reduced ? <Steps /> : <Moving size={size} />;
}

function Moving({ size }: { size: 'bar' | 'hero' }) {
  const { levels } = useServices().voice;
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let frame: number | null = null;
    const draw = () => {
      frame = null;
      if (canvas.current !== null) paint(canvas.current, levels.samples());
    };
    const soon = () => {
      frame ??= requestAnimationFrame(draw);
    };
    soon();
    const unsubscribe = levels.subscribe(soon);
    window.addEventListener('resize', soon);
    return () => {
      unsubscribe();
      window.removeEventListener('resize', soon);
      if (frame !== null) cancelAnimationFrame(frame);
    };
  }, [levels]);
  return <canvas ref={canvas} aria-hidden="true" data-testid="waveform" className={size === 'hero' ? 'h-48 w-full' : 'h-24 w-full'} />;
}

/** Bars from the right: the newest sound enters there. */
function paint(canvas: HTMLCanvasElement, samples: readonly LevelSample[]): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  context.scale(ratio, ratio);
  context.clearRect(0, 0, width, height);
  const style = getComputedStyle(canvas);
  const colours = { speech: style.getPropertyValue('--accent'), other: style.getPropertyValue('--control') };
  const bars = Math.max(1, Math.floor((width + gapPx) / (barPx + gapPx)));
  const perBar = historyFrames / bars;
  for (let i = 0; i < bars; i += 1) {
    const end = samples.length - Math.round(i * perBar);
    const part = samples.slice(Math.max(0, end - Math.max(1, Math.round(perBar))), Math.max(0, end));
    if (part.length === 0) break;
    const loudest = Math.max(...part.map(({ rms }) => rms));
    const tall = Math.max(1, share(loudest) * height);
    context.fillStyle = part.some(({ speech }) => speech) ? colours.speech : colours.other;
    context.fillRect(width - (i + 1) * (barPx + gapPx) + gapPx, (height - tall) / 2, barPx, tall);
  }
}

/** Ten steps, four times a second. */
function Steps() {
  const { latest } = useLevels();
  const lit = latest === null ? 0 : Math.ceil(share(latest.rms) * steps);
  return (
    <span aria-hidden="true" data-testid="level-steps" data-lit={lit} className="flex h-24 w-full items-center gap-4">
      {Array.from({ length: steps }, (_, i) => (
        <span key={i} className={`h-8 flex-1 ${i < lit ? (latest?.speech ? 'bg-accent' : 'bg-control') : 'bg-line'}`} />
      ))}
    </span>
  );
}

/** "Speech, 3.2 s" (UX-114). */
export function WaveformWords() {
  const t = useTexts();
  const { latest, speechMs } = useLevels();
  const words =
    speechMs > 0
      ? t('voice.speech', { time: duration(Math.round(speechMs / 100) * 100) })
      : latest === null || latest.zeros
        ? t('voice.noSound')
        : t('voice.noSpeech');
  return <span className="text-micro whitespace-nowrap text-text-2 tabular-nums">{words}</span>;
}
