import { useEffect, useState } from 'react';
import { useStore } from 'zustand';
import { type VoiceWord, voiceWord } from '../../../shared/domain/voice.ts';
import { latencyLine, soundGoalMs } from '../../../shared/domain/voiceLatency.ts';
import type { VoiceFault, VoiceView } from '../../../shared/domain/voiceView.ts';
import type { AppError } from '../../../shared/errors/appError.ts';
import { OwnCaption, ReplyCaption } from '../../components/Captions.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { TalkButton } from '../../components/TalkButton.tsx';
import { VoiceSign } from '../../components/VoiceSign.tsx';
import { Waterfall } from '../../components/Waterfall.tsx';
import { Waveform, WaveformWords } from '../../components/Waveform.tsx';
import { bytes, duration } from '../../lib/format.ts';
import { useLive, useServices } from '../../lib/services.tsx';
import { talkChord } from '../../lib/talkKey.ts';
import { useTexts } from '../../lib/texts.ts';
import { useUi } from '../../lib/ui.ts';
import { stageWords } from '../../lib/voiceWords.ts';
import { StepFrame } from './StepFrame.tsx';
import type { StepProps } from './steps.ts';
import { useSent } from './useSent.ts';

/** Before the first mark of an answer nothing of it was heard. */
const start = { generation: -1, phrase: -1, ms: 0, totalMs: 0, complete: false };

/**
 * The first spoken answer (UX-157): a question, the button, the sound that arrives, own words, the answer as it is heard, and then where
 * the time went. The button keeps its place while it is held.
 */
export function TalkScene({ go, allowed }: StepProps) {
  const t = useTexts();
  const { voice } = useServices();
  const view = useLive('voice').value;
  const record = useFinished(view);
  const sent = useSent(record?.turnId ?? null);
  useEffect(() => voice.preload(), [voice]);
  // Who has just tried the microphone here is not asked once more; anybody else presses first.
  useEffect(() => {
    if (allowed) voice.turnOn();
  }, [allowed, voice]);

  const toChat = () => {
    // What was said is the first message there; voice stays on, so that talking goes on.
    if (record !== null) return useUi.getState().openChat(view?.sessionId ?? null);
    voice.turnOff();
    useUi.getState().openChat(null);
  };
  const leave: StepProps['go'] = (to) => {
    if (to !== 'done') voice.turnOff();
    go(to);
  };
  const turningOn = useStore(voice.state, (s) => s.turningOn);
  const fault = useFault(view);
  const word = wordOf(view, turningOn);
  const talks = word === 'listening' || word === 'thinking' || word === 'speaking' || word === 'paused';
  return (
    <StepFrame
      step="talk"
      title={fault.stops ? t('onboarding.talk.trouble') : t('onboarding.talk.ready')}
      plain={talks || record !== null}
      done={record !== null}
      next={record === null ? t('onboarding.talk.anyway') : t('onboarding.talk.toChat')}
      onNext={toChat}
      go={leave}
    >
      <div className="flex flex-1 flex-col gap-24">
        <div className="flex-1">
          {view !== null && (talks || record !== null) ? (
            <Spoken view={view} word={word} finished={record !== null} />
          ) : (
            <>
              <p className="text-body text-text-2">{t('onboarding.talk.suggest')}</p>
              <p className="mt-8 text-title">{t('onboarding.talk.question')}</p>
            </>
          )}
          {record !== null && (
            <div className="mt-24">
              <p role="status" className="text-ui text-text-2 tabular-nums">
                {lineOf(record.marks.firstAudioPlayed ?? null, sent)}
              </p>
              <Slow record={record} />
              <div className="mt-16">
                <Waterfall record={record} />
              </div>
            </div>
          )}
          {fault.error !== null && <Fault error={fault.error} dismiss={fault.dismiss} go={leave} />}
        </div>
        {record === null && (
          <div className="flex flex-col items-center gap-12">
            <TalkButton size="hero" />
            <p role="status" className="flex items-center gap-8 text-ui">
              <VoiceSign word={word} />
              {t(`voice.words.${word}`)}
            </p>
            <p className="text-small text-text-3">
              {word === 'off' ? t('onboarding.talk.turnOn') : t('onboarding.talk.hold', { key: talkChord() })}
            </p>
          </div>
        )}
      </div>
    </StepFrame>
  );

  function lineOf(toSoundMs: number | null, bytesSent: number | null): string {
    const figure =
      bytesSent === null
        ? t('onboarding.talk.bytesUnknown')
        : bytesSent < 1000
          ? t('onboarding.talk.bytes', { count: bytesSent })
          : bytes(bytesSent);
    if (toSoundMs === null) return t('onboarding.talk.silent', { sent: figure });
    return t('onboarding.talk.toSound', { time: duration(toSoundMs), sent: figure });
  }
}

/** Between the press and the runtime's word for it the microphone is being opened. */
function wordOf(view: VoiceView | null, turningOn: boolean): VoiceWord {
  const word = view === null ? 'off' : voiceWord(view).word;
  return turningOn && (word === 'off' || word === 'trouble') ? 'opening' : word;
}

/** The record of a turn that was spoken to its end while this is open; null until then, and again when the next one begins. */
function useFinished(view: VoiceView | null): VoiceView['latency'] {
  // Turns of before belong to no first talk.
  const [old, setOld] = useState<string | null | undefined>(undefined);
  if (old === undefined && view !== null) setOld(view.latency?.turnId ?? null);
  const latency = view?.latency ?? null;
  if (view === null || latency === null || old === undefined || latency.turnId === old) return null;
  return latency.turnId === view.turnId && (view.phase === 'standby' || view.phase === 'off') ? latency : null;
}

/** What is heard and said, in the place where it happens. */
function Spoken({ view, word, finished }: { view: VoiceView; word: string; finished: boolean }) {
  const t = useTexts();
  const { voice } = useServices();
  const played = useStore(voice.state, (s) => s.played);
  // The loudspeaker of another page gives no marks here, and one that is lost plays nothing.
  const own = useStore(voice.state, (s) => s.line !== null && s.line === view.line && s.outputLost === null);
  const { caption, reply } = view;
  const answers = word === 'speaking' || word === 'paused' || finished;
  return (
    <>
      {word === 'listening' && (
        <div className="flex flex-col gap-8">
          <Waveform size="hero" />
          <WaveformWords />
        </div>
      )}
      {caption !== null && caption.text !== '' && (
        <div className={word === 'listening' ? 'mt-16' : ''}>
          {word === 'listening' || word === 'thinking' ? (
            <OwnCaption caption={caption} label={t('voice.own')} size="hero" />
          ) : (
            <p dir="auto" aria-label={t('voice.own')} className="text-body text-text-2 [overflow-wrap:anywhere]">
              {caption.text}
            </p>
          )}
        </div>
      )}
      {word === 'thinking' && <p className="mt-16 text-ui text-text-2">{stageWords(t, view.stage)}</p>}
      {answers && reply !== null && (
        <div className="mt-16">
          <ReplyCaption reply={reply} played={own && !finished ? (played ?? start) : null} label={t('voice.reply')} size="hero" />
        </div>
      )}
    </>
  );
}

/** If it was slow, the line says so and names the step. */
function Slow({ record }: { record: NonNullable<VoiceView['latency']> }) {
  const t = useTexts();
  const { toSoundMs, slowest } = latencyLine(record);
  if (toSoundMs === null || slowest === null || toSoundMs <= soundGoalMs.p95) return null;
  return <p className="mt-4 text-ui text-warn">{t('onboarding.talk.slow', { stage: t(`voice.latency.stages.${slowest}`) })}</p>;
}

/** What went wrong, or happened by itself; `stops`: nobody can talk as long as it is so. */
function useFault(view: VoiceView | null) {
  const { voice } = useServices();
  const error = useStore(voice.state, (s) => s.error);
  const outputLost = useStore(voice.state, (s) => s.outputLost);
  const [seen, setSeen] = useState(0);
  const notice = view?.notice != null && view.notice.id > seen && view.phase === 'standby' ? view.notice : null;
  const stopping = (view?.phase === 'failed' ? view.fault : null) ?? error;
  return {
    error: stopping ?? notice ?? (view?.phase === 'off' ? null : outputLost),
    stops: stopping !== null,
    dismiss() {
      voice.dismiss();
      setSeen(view?.notice?.id ?? 0);
    },
  };
}

/** With the way to mend it from here. */
function Fault(props: { error: VoiceFault | AppError; dismiss: () => void; go: StepProps['go'] }) {
  const { voice, connection } = useServices();
  const { error, go } = props;
  return (
    <div className="mt-24">
      <ErrorCard
        error={{ code: error.code, data: { ...error.data } }}
        run={{
          retry: voice.turnOn,
          again: voice.turnOn,
          wait: voice.turnOn,
          turnOn: voice.turnOn,
          restart: () => connection.retry(),
          unmute: () => voice.setMuted(false),
          otherMicrophone: () => go('microphone'),
          openModels: () => go('machine'),
          get: () => go('machine'),
          reload: () => location.reload(),
          dismiss: props.dismiss,
        }}
      />
    </div>
  );
}
