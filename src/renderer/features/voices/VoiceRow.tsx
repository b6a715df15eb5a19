import { Square, Volume2 } from 'lucide-react';
import type { DownloadJob } from '../../../shared/domain/models.ts';
import type { SpeakingVoice } from '../../../shared/domain/voiceCatalogue.ts';
import { Button } from '../../components/Button.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import type { AuditionState } from '../../lib/audition.ts';
import { bytes } from '../../lib/format.ts';
import { useTexts } from '../../lib/texts.ts';
import { accentName, canTalk, factsOf, fitnessWords, gettingWords } from './words.ts';

export const places = ['A', 'B'] as const;
export type PlaceName = (typeof places)[number];

export type VoiceDeeds = {
  hear(voice: SpeakingVoice): void;
  stop(): void;
  take(voice: SpeakingVoice): void;
  get(voice: SpeakingVoice): void;
  /** Into a place for comparing, or out of it. */
  put(place: PlaceName, voice: SpeakingVoice | null): void;
};

/** One voice: what is known of it, and what can be done with it. One that is not installed has no sample, only Get. */
export function VoiceRow(props: {
  voice: SpeakingVoice;
  speaksNow: boolean;
  audition: AuditionState;
  /** Places that hold it now. */
  held: readonly PlaceName[];
  job: DownloadJob | null;
  deeds: VoiceDeeds;
}) {
  const t = useTexts();
  const { voice, audition, deeds, held, job } = props;
  const { name } = voice;
  const fitness = fitnessWords(t, voice);
  const own = audition.voiceId === voice.voiceId;
  const fitnessId = `fitness-${voice.voiceId}`;
  return (
    <li className="border-b border-line py-12" data-testid={`voice-${voice.voiceId}`}>
      <div className="flex flex-wrap items-start gap-x-16 gap-y-8">
        <div className="min-w-rail flex-1">
          <p className="text-ui">
            <span className="font-medium">{name}</span>
            <span className="text-text-2"> · {accentName(t, voice.locale)}</span>
            {props.speaksNow && (
              <span className="ml-8 rounded-badge bg-accent-soft px-8 text-micro text-text">{t('voices.speaksNow')}</span>
            )}
          </p>
          <p className="mt-4 text-small text-text-2">{factsOf(t, voice)}</p>
          {fitness !== null && (
            <p id={fitnessId} className="mt-4 text-small text-text-2">
              {fitness}
            </p>
          )}
        </div>
        {voice.state === 'installed' ? (
          <div className="flex flex-wrap items-center gap-8">
            <HearButton voice={voice} audition={audition} deeds={deeds} />
            {places.map((place) => {
              const isHeld = held.includes(place);
              return (
                <Button
                  key={place}
                  look="quiet"
                  aria-pressed={isHeld}
                  aria-label={t(isHeld ? 'voices.outOfPlace' : 'voices.inPlace', { name, place })}
                  className={isHeld ? 'bg-accent-soft' : ''}
                  onClick={() => deeds.put(place, isHeld ? null : voice)}
                >
                  {place}
                </Button>
              );
            })}
            <Button
              aria-label={t('voices.takeName', { name })}
              aria-describedby={fitness === null ? undefined : fitnessId}
              disabled={props.speaksNow || !canTalk(voice)}
              onClick={() => deeds.take(voice)}
            >
              {t('voices.take')}
            </Button>
          </div>
        ) : job === null ? (
          <Button
            aria-label={t('voices.getName', { model: voice.modelName, size: bytes(voice.sizeBytes), name })}
            onClick={() => deeds.get(voice)}
          >
            {t('voices.get')}
          </Button>
        ) : (
          <p className="text-small text-text-2 tabular-nums">{gettingWords(t, job, voice.sizeBytes)}</p>
        )}
      </div>
      {own && audition.error !== null && (
        <div className="mt-12">
          <ErrorCard error={audition.error} run={{ retry: () => deeds.hear(voice), wait: () => deeds.hear(voice) }} />
        </div>
      )}
    </li>
  );
}

/** @param props.called  what the voice is called here, where its name alone would stand twice. */
export function HearButton(props: {
  voice: SpeakingVoice;
  called?: string;
  audition: AuditionState;
  deeds: Pick<VoiceDeeds, 'hear' | 'stop'>;
}) {
  const t = useTexts();
  const { voice, audition, deeds } = props;
  const name = props.called ?? voice.name;
  const isOn = audition.voiceId === voice.voiceId && audition.phase !== 'still';
  return isOn ? (
    <Button aria-label={t('voices.stopName', { name })} onClick={deeds.stop}>
      <Square size={16} strokeWidth={1.75} aria-hidden="true" />
      {audition.phase === 'making' ? t('voices.making') : t('voices.stop')}
    </Button>
  ) : (
    <Button aria-label={t('voices.hearName', { name })} onClick={() => deeds.hear(voice)}>
      <Volume2 size={16} strokeWidth={1.75} aria-hidden="true" />
      {t('voices.hear')}
    </Button>
  );
}
