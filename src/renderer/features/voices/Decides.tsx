import type { SpeakingVoice } from '../../../shared/domain/voiceCatalogue.ts';
import type { VoiceDecision } from '../../../shared/domain/voiceChoice.ts';
import { Button } from '../../components/Button.tsx';
import { useTexts } from '../../lib/texts.ts';

/** Which choice decides now (VO-97), and the way back from it. A voice that is gone is never replaced by itself. */
export function Decides(props: {
  decision: VoiceDecision;
  voices: readonly SpeakingVoice[];
  chosen: string | null;
  onChoose: (voiceId: string | null) => void;
}) {
  const t = useTexts();
  const { decision } = props;
  const nameOf = (voiceId: string | null) => props.voices.find((voice) => voice.voiceId === voiceId)?.name ?? voiceId ?? '?';
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-16 gap-y-8">
      <p role="status" className="min-w-rail flex-1 text-ui">
        {decision.problem === null ? t(`voices.decides.${decision.by}`, { name: nameOf(decision.voiceId) }) : t('voices.gone')}
      </p>
      <div className="flex flex-wrap gap-8">
        {decision.problem !== null && decision.next !== null && (
          <Button onClick={() => props.onChoose(decision.next)}>{t('voices.takeNext', { name: nameOf(decision.next) })}</Button>
        )}
        {props.chosen !== null && <Button onClick={() => props.onChoose(null)}>{t('voices.forget')}</Button>}
      </div>
    </div>
  );
}
