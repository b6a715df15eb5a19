import type { SpeakingVoice } from '../../../shared/domain/voiceCatalogue.ts';
import { Button } from '../../components/Button.tsx';
import type { AuditionState } from '../../lib/audition.ts';
import { useTexts } from '../../lib/texts.ts';
import { HearButton, type PlaceName, places, type VoiceDeeds } from './VoiceRow.tsx';
import { canTalk } from './words.ts';

/** Two voices at hand, wherever the list stands. */
export function Compare(props: {
  held: Readonly<Record<PlaceName, string | null>>;
  voices: readonly SpeakingVoice[];
  audition: AuditionState;
  deeds: VoiceDeeds;
}) {
  const t = useTexts();
  const { held, deeds, audition } = props;
  const present = places.flatMap((place) => {
    const voice = props.voices.find(({ voiceId }) => voiceId === held[place]);
    return voice === undefined ? [] : [{ place, voice, called: t('voices.place', { place, name: voice.name }) }];
  });
  return (
    <section aria-label={t('voices.compare')} className="mt-16">
      {present.length === 0 ? (
        <p className="text-small text-text-2">{t('voices.compareEmpty')}</p>
      ) : (
        <ul className="flex flex-wrap gap-x-24 gap-y-8">
          {present.map(({ place, voice, called }) => (
            <li key={place} className="flex items-center gap-8">
              <span className="text-ui">{called}</span>
              <HearButton voice={voice} called={called} audition={audition} deeds={deeds} />
              <Button aria-label={t('voices.takeName', { name: called })} disabled={!canTalk(voice)} onClick={() => deeds.take(voice)}>
                {t('voices.take')}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
