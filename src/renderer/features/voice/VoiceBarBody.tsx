import { Mic, MicOff, Power, Square } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useStore } from 'zustand';
import { listeningForm, type VoiceWord } from '../../../shared/domain/voice.ts';
import type { VoiceView } from '../../../shared/domain/voiceView.ts';
import { Button } from '../../components/Button.tsx';
import { OwnCaption, ReplyCaption } from '../../components/Captions.tsx';
import { Waveform, WaveformWords } from '../../components/Waveform.tsx';
import { duration } from '../../lib/format.ts';
import { useServices } from '../../lib/services.tsx';
import { talkChord } from '../../lib/talkKey.ts';
import { useTexts } from '../../lib/texts.ts';
import { useNow } from '../../lib/useNow.ts';
import { stageWords } from '../../lib/voiceWords.ts';
import { Devices } from './Devices.tsx';
import { LatencyLine } from './LatencyLine.tsx';
import { Notices, Trouble } from './Notices.tsx';
import { useVoiceAnnouncements } from './useVoiceAnnouncements.ts';

/** What stands beside the word of a state (UX-175), and the deeds of that state at the end of the line. */
export function Beside({ view, word }: { view: VoiceView; word: VoiceWord }) {
  const t = useTexts();
  const { voice } = useServices();
  if (word === 'trouble') return <Trouble view={view} />;
  const mayStop = word === 'listening' || word === 'thinking' || word === 'speaking' || word === 'paused';
  return (
    <>
      <div className="flex min-w-0 flex-1 items-center gap-12 text-ui text-text-2">
        <Words view={view} word={word} />
      </div>
      <div className="-mr-8 flex shrink-0 items-center">
        {(word === 'ready' || word === 'opening' || word === 'muted') && <Devices view={view} />}
        {word !== 'muted' && (
          <Button look="quiet" onClick={() => voice.setMuted(!view.muted)}>
            {view.muted ? (
              <Mic size={16} strokeWidth={1.75} aria-hidden="true" />
            ) : (
              <MicOff size={16} strokeWidth={1.75} aria-hidden="true" />
            )}
            {view.muted ? t('voice.unmute') : t('voice.mute')}
          </Button>
        )}
        {mayStop ? (
          <Button look="quiet" aria-keyshortcuts="Escape" onClick={voice.cancel}>
            <Square size={16} strokeWidth={1.75} fill="currentColor" aria-hidden="true" />
            {t('voice.stop')}
          </Button>
        ) : (
          <Button look="quiet" onClick={voice.turnOff}>
            <Power size={16} strokeWidth={1.75} aria-hidden="true" />
            {t('voice.turnOff')}
          </Button>
        )}
      </div>
    </>
  );
}

function Words({ view, word }: { view: VoiceView; word: VoiceWord }) {
  const t = useTexts();
  const { voice } = useServices();
  switch (word) {
    case 'off':
    case 'trouble':
    case 'speaking':
      return null;
    case 'muted':
      return <Button onClick={() => voice.setMuted(false)}>{t('voice.unmute')}</Button>;
    case 'opening':
      return <span className="truncate">{view.device}</span>;
    case 'ready':
      return <span className="truncate">{t('voice.ready', { key: talkChord() })}</span>;
    case 'listening':
      return (
        <>
          <span className="sr-only truncate two:not-sr-only">{t(`voice.forms.${listeningForm(view.key, view.by)}`)}</span>
          <span className="flex min-w-0 flex-1 basis-0 items-center justify-end gap-12">
            <span className="w-rail min-w-rail-narrow shrink">
              <Waveform />
            </span>
            <WaveformWords />
          </span>
        </>
      );
    case 'thinking':
      return <Stage stage={view.stage} />;
    case 'paused':
      return <span className="truncate">{t('voice.paused')}</span>;
  }
}

/** What is done now, and for how many seconds it has thought. */
function Stage({ stage }: { stage: VoiceView['stage'] }) {
  const t = useTexts();
  const now = useNow();
  const { clock } = useServices();
  const [since] = useState(() => clock.monotonicMs());
  const seconds = Math.floor((now - since) / 1_000);
  return (
    <span className="truncate tabular-nums">
      {stageWords(t, stage)}
      {seconds >= 1 && <span className="text-text-3"> · {duration(seconds * 1_000)}</span>}
    </span>
  );
}

/** Captions, what went wrong, and where the time went. */
export function Below({ view, word }: { view: VoiceView | null; word: VoiceWord }) {
  const t = useTexts();
  const { voice } = useServices();
  const played = useStore(voice.state, (s) => s.played);
  useVoiceAnnouncements(word);
  // The loudspeaker of another page gives no marks here.
  const own = useStore(voice.state, (s) => s.line !== null && s.line === view?.line && s.outputLost === null);
  useEffect(() => voice.preload(), [voice]);
  const caption = view?.caption ?? null;
  const reply = view?.reply ?? null;
  const speaks = word === 'speaking' || word === 'paused';
  return (
    <>
      {caption !== null && (word === 'listening' || word === 'thinking') && caption.text !== '' && (
        <div className="pb-4">
          <OwnCaption caption={caption} label={t('voice.own')} />
        </div>
      )}
      {reply !== null && speaks && (
        <div className="pb-4">
          <ReplyCaption reply={reply} played={own ? (played ?? start) : null} label={t('voice.reply')} />
        </div>
      )}
      <Notices view={view} word={word} />
      {view?.latency != null && word === 'ready' && <LatencyLine record={view.latency} />}
    </>
  );
}

/** Before the first mark of an answer nothing of it was heard. */
const start = { generation: -1, phrase: -1, ms: 0, totalMs: 0, complete: false };
