import { useState } from 'react';
import type { SpeakingVoice } from '../../../shared/domain/voiceCatalogue.ts';
import { chooseVoice } from '../../../shared/domain/voiceChoice.ts';
import { type AppError, toAppError } from '../../../shared/errors/appError.ts';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { Sheet } from '../../components/Sheet.tsx';
import { StillRows } from '../../components/StillRows.tsx';
import { activeJobOf, useDownloadDeeds } from '../../lib/models.ts';
import { useLive, useServices } from '../../lib/services.tsx';
import { useTexts } from '../../lib/texts.ts';
import { Compare } from './Compare.tsx';
import { Decides } from './Decides.tsx';
import { groupVoices } from './groups.ts';
import { SampleControls } from './SampleControls.tsx';
import { useAudition } from './useAudition.ts';
import { useVoices } from './useVoices.ts';
import { VoiceModels } from './VoiceModels.tsx';
import { type PlaceName, places, type VoiceDeeds, VoiceRow } from './VoiceRow.tsx';
import { languageName } from './words.ts';

/** All voices by language and gender; each can be heard, and taken for everything. */
export function PickerSheet(props: { onClose: () => void }) {
  const t = useTexts();
  const { api } = useServices();
  const settings = useLive('settings').value;
  const jobs = useLive('downloads').value?.jobs ?? [];
  const list = useVoices();
  const { audition, state } = useAudition();
  const downloads = useDownloadDeeds();
  const [sentence, setSentence] = useState('');
  const [held, setHeld] = useState<Readonly<Record<PlaceName, string | null>>>({ A: null, B: null });
  const [error, setError] = useState<AppError | null>(null);

  const voices = list.voices ?? [];
  const installed = voices.filter((voice) => voice.state === 'installed');
  const standard = list.standard.flatMap((id) => installed.filter(({ voiceId }) => voiceId === id));
  const decision = chooseVoice({ chat: null, everything: settings?.voiceId ?? null, voices: installed, standard });
  const set = (change: Parameters<typeof api.settings.set>[0]) => {
    setError(null);
    api.settings.set(change).catch((thrown: unknown) => setError(toAppError(thrown)));
  };
  const deeds: VoiceDeeds = {
    hear(voice) {
      const text = sentence.trim() === '' ? t('voices.sentence') : sentence.trim();
      const sample = { voiceId: voice.voiceId, text, speed: settings?.voiceSpeed ?? 1 };
      void audition.play(sample, settings?.loudspeaker ?? null);
    },
    stop: audition.stop,
    take: (voice) => set({ voiceId: voice.voiceId }),
    get: (voice) => void downloads.get([voice.modelId]),
    put: (place, voice) => setHeld((now) => ({ ...now, [place]: voice?.voiceId ?? null })),
  };
  const heldIn = (voice: SpeakingVoice) => places.filter((place) => held[place] === voice.voiceId);
  const failed = error ?? downloads.error;
  return (
    <Sheet
      open
      onClose={props.onClose}
      title={t('voices.title')}
      about={t('voices.about')}
      closeName={t('voices.close')}
      head={<Compare held={held} voices={installed} audition={state} deeds={deeds} />}
      foot={
        list.voices !== null && (
          <Decides decision={decision} voices={voices} chosen={settings?.voiceId ?? null} onChoose={(voiceId) => set({ voiceId })} />
        )
      }
    >
      <SampleControls
        sentence={sentence}
        onSentence={setSentence}
        speed={settings?.voiceSpeed ?? 1}
        onSpeed={(voiceSpeed) => set({ voiceSpeed })}
      />
      {failed !== null && (
        <div className="mt-16">
          <ErrorCard error={failed} />
        </div>
      )}
      {list.error !== null && (
        <div className="mt-16">
          <ErrorCard error={list.error} run={{ retry: list.reload, restart: list.reload, wait: list.reload }} />
        </div>
      )}
      {list.voices === null ? (
        list.error === null && <StillRows label={t('voices.loading')} count={6} />
      ) : voices.length === 0 ? (
        <p className="mt-16 text-ui text-text-2">{t('voices.empty')}</p>
      ) : (
        groupVoices(voices).map(({ language, genders }) => (
          <section key={language} aria-labelledby={`voices-${language}`} className="mt-24">
            <h3 id={`voices-${language}`} className="text-heading">
              {languageName(language)}
            </h3>
            {genders.map(({ gender, voices: own }) => (
              <div key={gender} className="mt-16">
                <h4 id={`voices-${language}-${gender}`} className="text-small font-medium text-text-2">
                  {t(`voices.genders.${gender}`)}
                </h4>
                <ul aria-labelledby={`voices-${language} voices-${language}-${gender}`} className="mt-8 border-t border-line">
                  {own.map((voice) => (
                    <VoiceRow
                      key={voice.voiceId}
                      voice={voice}
                      speaksNow={decision.voiceId === voice.voiceId}
                      audition={state}
                      held={heldIn(voice)}
                      job={activeJobOf(jobs, voice.modelId)}
                      deeds={deeds}
                    />
                  ))}
                </ul>
              </div>
            ))}
          </section>
        ))
      )}
      {voices.length > 0 && <VoiceModels voices={voices} onMeasured={list.reload} />}
    </Sheet>
  );
}
