import { ArrowDown, CircleAlert, Cpu, Mic, MicOff, Monitor, PlugZap } from 'lucide-react';
import type { ReactNode } from 'react';
import type { DownloadJob, LanguageStatus } from '../../shared/domain/models.ts';
import { voiceWord } from '../../shared/domain/voice.ts';
import type { VoiceView } from '../../shared/domain/voiceView.ts';
import { percent, speed, timeLeft } from '../lib/format.ts';
import { useConnection, useLive } from '../lib/services.tsx';
import { type Texts, useTexts } from '../lib/texts.ts';

/** The bottom strip says what is true now, and nothing that is not known (UX-01, UX-14). */
export function Strip() {
  const t = useTexts();
  const connection = useConnection();
  const language = useLive('language');
  const downloads = useLive('downloads');
  const health = useLive('health');
  const voice = useLive('voice');
  const open = connection.kind === 'open';
  const job = downloads.value?.jobs.find((j) => moving.includes(j.phase)) ?? null;
  return (
    <footer
      aria-label={t('app.strip')}
      data-region="strip"
      tabIndex={-1}
      className="flex min-h-strip shrink-0 flex-wrap items-center border-t border-line bg-sunken px-8 text-micro text-text-2 tabular-nums"
    >
      {!open && (
        <Item
          icon={<PlugZap size={12} strokeWidth={1.75} aria-hidden="true" />}
          tone={connection.kind === 'connecting' ? undefined : 'text-warn'}
        >
          {connection.kind === 'connecting' ? t('strip.connecting') : t('strip.lost')}
        </Item>
      )}
      {open && voice.value !== null && voice.fresh && voice.value.phase !== 'off' && <VoiceItem view={voice.value} />}
      {open && language.value !== null && (
        <Item
          icon={<Cpu size={12} strokeWidth={1.75} aria-hidden="true" />}
          tone={language.value.state === 'error' ? 'text-danger' : undefined}
        >
          {engineWords(t, language.value)}
        </Item>
      )}
      {open && job !== null && (
        <Item
          icon={<ArrowDown size={12} strokeWidth={1.75} aria-hidden="true" />}
          label={t('strip.downloadLabel', { state: downloadWords(t, job) })}
        >
          {downloadWords(t, job)}
        </Item>
      )}
      {open && health.value?.store.state === 'read-only' && (
        <Item icon={<CircleAlert size={12} strokeWidth={1.75} aria-hidden="true" />} tone="text-danger">
          {t('strip.readOnly')}
        </Item>
      )}
      {open && language.value !== null && language.value.state !== 'none' && (
        <Item icon={<Monitor size={12} strokeWidth={1.75} aria-hidden="true" />} label={t('strip.hereFull')}>
          {t('strip.here')}
        </Item>
      )}
    </footer>
  );
}

/** The microphone is at work on every place, so its sign stands on every place (UX-14). */
function VoiceItem({ view }: { view: VoiceView }) {
  const t = useTexts();
  const { word } = voiceWord(view);
  const Icon = view.muted ? MicOff : Mic;
  const name = t(`voice.words.${word}`);
  return (
    <Item
      icon={<Icon size={12} strokeWidth={1.75} aria-hidden="true" />}
      label={t('strip.voiceLabel', { state: name })}
      tone={view.muted || word === 'trouble' ? 'text-danger' : word === 'listening' ? 'text-accent' : undefined}
    >
      {view.muted ? t('voice.words.muted') : name}
    </Item>
  );
}

const moving: readonly DownloadJob['phase'][] = ['queued', 'waiting', 'downloading', 'paused', 'verifying', 'failed'];

function Item(props: { icon: ReactNode; label?: string; tone?: string | undefined; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center gap-4 border-l border-line px-12 first:border-l-0 first:pl-8 ${props.tone ?? ''}`}
      title={props.label}
    >
      {props.icon}
      {props.children}
    </span>
  );
}

export function engineWords(t: Texts, status: LanguageStatus): string {
  const name = status.name ?? t('strip.unknownModel');
  switch (status.state) {
    case 'none':
      return t('strip.engineNone');
    case 'idle':
      return t('strip.engineIdle', { name });
    case 'loading':
      return status.fraction === null
        ? t('strip.engineLoadingUnknown', { name })
        : t('strip.engineLoading', { name, percent: percent(status.fraction) });
    case 'ready':
      return t('strip.engineReady', { name });
    case 'error':
      return t('strip.engineError');
  }
}

export function downloadWords(t: Texts, job: DownloadJob): string {
  const part = job.total === null || job.total === 0 ? '?' : percent(job.received / job.total);
  switch (job.phase) {
    case 'downloading': {
      const left = timeLeft(job.etaMs);
      const figures = { percent: part, speed: speed(job.bytesPerSec) };
      return left === null ? t('strip.downloadNoTime', figures) : t('strip.download', { ...figures, left });
    }
    case 'verifying':
      return t('strip.downloadVerifying');
    case 'paused':
      return t('strip.downloadPaused', { percent: part });
    case 'failed':
      return t('strip.downloadFailed');
    default:
      return t('strip.downloadWaiting');
  }
}
