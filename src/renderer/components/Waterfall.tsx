import type { LatencyRecord, LatencyStage } from '../../shared/domain/voiceLatency.ts';
import { latencyLine, waterfall } from '../../shared/domain/voiceLatency.ts';
import { duration, number } from '../lib/format.ts';
import { type Texts, useTexts } from '../lib/texts.ts';

/** Each job has its colour everywhere (UX-275): what listens, what answers, what speaks. */
const colours: Record<LatencyStage, string> = {
  endDecided: 'var(--plot-listen)',
  asrFinal: 'var(--plot-listen)',
  committed: 'var(--plot-others)',
  contextReady: 'var(--plot-answer)',
  firstToken: 'var(--plot-answer)',
  firstPhrase: 'var(--plot-answer)',
  firstAudioMade: 'var(--plot-speak)',
  firstAudioPlayed: 'var(--plot-speak)',
};

/** "0.9 s to first sound; slowest: first token" (UX-117); null where nothing was measured. */
export function latencyWords(t: Texts, record: Pick<LatencyRecord, 'marks'>): string | null {
  const { toSoundMs, slowest } = latencyLine(record);
  if (toSoundMs === null) return slowest === null ? null : t('voice.latency.lineSilent', { stage: t(`voice.latency.stages.${slowest}`) });
  const time = duration(toSoundMs);
  if (slowest === null) return t('voice.latency.lineOnly', { time });
  return t('voice.latency.line', { time, stage: t(`voice.latency.stages.${slowest}`) });
}

/** Most steps are short: in seconds half of them would read as 0. */
const stepTime = (ms: number) => (ms < 1_000 ? `${number(Math.round(ms))} ms` : duration(ms));

/** Where the time of a spoken turn went, step under step (UX-117, UX-134). The picture is the table itself, so that nobody misses a figure. */
export function Waterfall({ record }: { record: Pick<LatencyRecord, 'marks'> }) {
  const t = useTexts();
  const rows = waterfall(record);
  const { toSoundMs, slowest } = latencyLine(record);
  const wholeMs = Math.max(1, ...rows.map(({ fromMs, ms }) => fromMs + ms));
  if (rows.length === 0) return <p className="text-small text-text-2">{t('voice.latency.unknown')}</p>;
  return (
    <table className="w-full text-small tabular-nums">
      <caption className="sr-only">{t('voice.latency.table')}</caption>
      <thead className="sr-only">
        <tr>
          <th scope="col">{t('voice.latency.stage')}</th>
          <th scope="col" colSpan={2}>
            {t('voice.latency.time')}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ stage, fromMs, ms }) => (
          <tr key={stage}>
            <th
              scope="row"
              className={`pr-12 text-start whitespace-nowrap ${stage === slowest ? 'font-medium text-text' : 'font-normal text-text-2'}`}
            >
              {t(`voice.latency.stages.${stage}`)}
            </th>
            <td className="w-full" aria-hidden="true">
              <div className="h-8 w-full bg-sunken">
                <div
                  data-bar={stage}
                  className="h-full min-w-px"
                  style={{ marginLeft: `${(fromMs / wholeMs) * 100}%`, width: `${(ms / wholeMs) * 100}%`, background: colours[stage] }}
                />
              </div>
            </td>
            <td className={`pl-12 text-end whitespace-nowrap ${stage === slowest ? 'font-medium text-text' : 'text-text-2'}`}>
              {stepTime(ms)}
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr className="border-t border-line">
          <th scope="row" className="pt-4 pr-12 text-start font-medium whitespace-nowrap" colSpan={2}>
            {t('voice.latency.sum')}
          </th>
          <td className="pt-4 pl-12 text-end font-medium whitespace-nowrap">{duration(toSoundMs)}</td>
        </tr>
      </tfoot>
    </table>
  );
}
