import { Mic, Play, Square } from 'lucide-react';
import { useEffect, useId, useMemo } from 'react';
import { useStore } from 'zustand';
import type { Sound } from '../../audio/sound.ts';
import { Button } from '../../components/Button.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { LevelMeter } from '../../components/LevelMeter.tsx';
import { duration } from '../../lib/format.ts';
import { useServices } from '../../lib/services.tsx';
import { useTexts } from '../../lib/texts.ts';
import { useMedia } from '../../lib/useMedia.ts';
import { chosenKey, createMicrophone, type Microphone, type MicrophoneView, microphoneLimits } from './microphone.ts';
import { SoundResult } from './SoundResult.tsx';
import { StepFrame } from './StepFrame.tsx';
import type { StepProps } from './steps.ts';
import { TalkKey } from './TalkKey.tsx';

/** Loaded with the first press: the worklets are no part of what a page needs to start. */
const lazySound: Sound = {
  media: 'mediaDevices' in navigator ? navigator.mediaDevices : undefined,
  openCaptureNode: async (stream, onMessage) => (await import('../../audio/contexts.ts')).openCaptureNode(stream, onMessage),
  openPlaybackNode: async (onMessage) => (await import('../../audio/contexts.ts')).openPlaybackNode(onMessage),
};

/** The microphone before anything is downloaded (UX-19, VO-11): its level, one sentence back, and what to do when it is silent. */
export function MicrophoneStep({ settings, keep, go, onAllowed }: StepProps) {
  const t = useTexts();
  const { api, clock, sound = lazySound } = useServices();
  const still = useMedia('(prefers-reduced-motion: reduce)');
  const microphone = useMemo(() => createMicrophone({ api, clock, sound, still }), [api, clock, sound, still]);
  useEffect(() => () => microphone.close(), [microphone]);
  const view = useStore(microphone.view);
  useEffect(() => {
    if (view.phase === 'on') onAllowed();
  }, [view.phase, onAllowed]);
  const choose = (name: string | null) => {
    void keep({ microphone: name });
    microphone.choose(name);
  };
  const turnOn = () => microphone.turnOn(settings.microphone);
  const other = () => {
    microphone.turnOn(null);
    void keep({ microphone: null });
  };
  const works = view.recording === 'done' || view.recording === 'playing';
  return (
    <StepFrame
      step="microphone"
      title={t('onboarding.microphone.title')}
      about={t('onboarding.microphone.about')}
      done={works}
      deed={
        view.phase === 'off' && (
          <Button look="primary" onClick={turnOn}>
            <Mic size={16} strokeWidth={1.75} aria-hidden="true" />
            {t('onboarding.microphone.turnOn')}
          </Button>
        )
      }
      go={go}
      onNext={() => settings.typeOnly && works && void keep({ typeOnly: false })}
      skip={{
        name: t('onboarding.microphone.typeOnly'),
        run: () => {
          void keep({ typeOnly: true });
          go('machine');
        },
      }}
    >
      {view.phase === 'off' && (
        <>
          <p className="text-ui text-text-2">{t('onboarding.microphone.turnOnAbout')}</p>
          <p className="mt-4 text-ui text-text-2">{t('onboarding.microphone.typeOnlyAbout')}</p>
        </>
      )}
      {view.phase === 'asking' && (
        <p role="status" className="text-ui text-text-2">
          {t('onboarding.microphone.opening')}
        </p>
      )}
      {view.phase === 'failed' && view.error !== null && (
        <ErrorCard error={view.error} run={{ retry: turnOn, restart: turnOn, dismiss: turnOn, otherMicrophone: other }} />
      )}
      {view.phase === 'on' && (
        <>
          <Devices view={view} chosen={settings.microphone} onChoose={choose} />
          {view.notice !== null && (
            <div className="mt-16">
              <ErrorCard
                error={view.notice}
                run={{
                  otherMicrophone: () =>
                    document.getElementById('microphones')?.querySelector<HTMLInputElement>('input:not(:checked)')?.focus(),
                  dismiss: () => microphone.view.setState({ notice: null }),
                  retry: turnOn,
                }}
              />
            </div>
          )}
          <Sentence view={view} microphone={microphone} loudspeaker={settings.loudspeaker} />
        </>
      )}
      <TalkKey />
    </StepFrame>
  );
}

/** Every microphone with its live level, to be chosen by name (VO-04). */
function Devices(props: { view: MicrophoneView; chosen: string | null; onChoose: (name: string | null) => void }) {
  const t = useTexts();
  const { view } = props;
  const group = useId();
  const chosen = props.chosen !== null && view.devices.includes(props.chosen) ? props.chosen : null;
  const system = view.system === '' ? t('onboarding.microphone.systemUnnamed') : t('onboarding.microphone.system', { name: view.system });
  const rows: { name: string | null; label: string }[] = [
    { name: null, label: system },
    ...view.devices.map((name) => ({ name, label: name })),
  ];
  return (
    <fieldset id="microphones">
      <legend className="text-heading">{t('onboarding.microphone.devices')}</legend>
      <div className="mt-8 border-t border-line">
        {rows.map(({ name, label }) => {
          const level = view.levels.get(name === chosen ? chosenKey : (name ?? '?')) ?? null;
          return (
            <label
              key={name ?? ''}
              className="flex min-h-row-2 items-center gap-12 border-b border-line py-8 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
            >
              <input
                type="radio"
                name={group}
                checked={name === chosen}
                onChange={() => props.onChoose(name)}
                className="size-16 shrink-0 accent-accent outline-none"
              />
              {name === null && chosen !== null ? (
                <span className="min-w-0 flex-1 truncate text-ui">{label}</span>
              ) : (
                <LevelMeter device={label} level={level}>
                  <span className="text-ui">{label}</span>
                </LevelMeter>
              )}
            </label>
          );
        })}
      </div>
      {view.unheard > 0 && <p className="mt-8 text-small text-text-2">{t('onboarding.microphone.more', { count: view.unheard })}</p>}
    </fieldset>
  );
}

/** One sentence in memory, played back and judged. */
function Sentence(props: { view: MicrophoneView; microphone: Microphone; loudspeaker: string | null }) {
  const t = useTexts();
  const { view, microphone } = props;
  const { recording } = view;
  const has = recording === 'done' || recording === 'playing';
  return (
    <section aria-label={t('onboarding.microphone.sayTitle')} className="mt-24">
      <h2 className="text-heading">{t('onboarding.microphone.sayTitle')}</h2>
      <p className="mt-4 text-ui text-text-2">{t('onboarding.microphone.say')}</p>
      <div className="mt-12 flex flex-wrap items-center gap-8">
        {recording === 'recording' ? (
          <>
            <Button look="primary" onClick={microphone.stopRecording}>
              <Square size={16} strokeWidth={1.75} aria-hidden="true" />
              {t('onboarding.microphone.stop')}
            </Button>
            <span role="timer" className="text-small text-text-2 tabular-nums">
              {t('onboarding.microphone.recording', { time: duration(Math.max(0, microphoneLimits.recordMs - view.recordedMs)) })}
            </span>
          </>
        ) : (
          <>
            <Button look={has ? 'plain' : 'primary'} disabled={view.capture.phase !== 'live'} onClick={microphone.record}>
              <Mic size={16} strokeWidth={1.75} aria-hidden="true" />
              {has ? t('onboarding.microphone.again') : t('onboarding.microphone.record')}
            </Button>
            {recording === 'done' && (
              <Button onClick={() => microphone.play(props.loudspeaker)}>
                <Play size={16} strokeWidth={1.75} aria-hidden="true" />
                {t('onboarding.microphone.play')}
              </Button>
            )}
            {recording === 'playing' && (
              <Button onClick={microphone.stopPlaying}>
                <Square size={16} strokeWidth={1.75} aria-hidden="true" />
                {t('onboarding.microphone.stop')}
              </Button>
            )}
            {view.capture.phase === 'opening' && <span className="text-small text-text-2">{t('onboarding.microphone.opening')}</span>}
            {view.capture.phase === 'reopening' && <span className="text-small text-text-2">{t('onboarding.microphone.reopening')}</span>}
          </>
        )}
      </div>
      {has && view.check !== null && (
        <>
          <SoundResult check={view.check} />
          <p className="mt-8 text-small text-text-3">{t('onboarding.microphone.heardAgain', { time: duration(view.recordedMs) })}</p>
        </>
      )}
      {view.mute && <p className="mt-8 text-small text-warn">{t('onboarding.microphone.playFailed')}</p>}
    </section>
  );
}
