import { useState } from 'react';
import type { SpeakingVoice } from '../../../shared/domain/voiceCatalogue.ts';
import { type AppError, toAppError } from '../../../shared/errors/appError.ts';
import { Button } from '../../components/Button.tsx';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { bytes, number } from '../../lib/format.ts';
import { useServices } from '../../lib/services.tsx';
import { useTexts } from '../../lib/texts.ts';
import { modelsOf, type VoiceModel } from './groups.ts';

/** The models behind the voices: licence, what it wants to be said, and speed here, which a busy machine may have measured badly. */
export function VoiceModels(props: { voices: readonly SpeakingVoice[]; onMeasured: () => void }) {
  const t = useTexts();
  return (
    <section aria-labelledby="voice-models" className="mt-32">
      <h3 id="voice-models" className="text-heading">
        {t('voices.models')}
      </h3>
      <ul className="mt-8 border-t border-line">
        {modelsOf(props.voices).map((model) => (
          <ModelRow key={model.modelId} model={model} onMeasured={props.onMeasured} />
        ))}
      </ul>
    </section>
  );
}

function ModelRow(props: { model: VoiceModel; onMeasured: () => void }) {
  const t = useTexts();
  const { api } = useServices();
  const { model } = props;
  const [measuring, setMeasuring] = useState(false);
  const [error, setError] = useState<AppError | null>(null);
  const measure = () => {
    setMeasuring(true);
    setError(null);
    api.speech
      .measure({ modelId: model.modelId })
      .then(props.onMeasured, (thrown: unknown) => setError(toAppError(thrown)))
      .finally(() => setMeasuring(false));
  };
  const facts = [
    bytes(model.sizeBytes),
    t('voices.licence', { name: model.licence.id }),
    ...(model.state === 'available'
      ? []
      : [model.speedFactor === undefined ? t('voices.speedUnknown') : t('voices.speedFactor', { factor: number(model.speedFactor, 2) })]),
  ];
  return (
    <li className="border-b border-line py-12">
      <div className="flex flex-wrap items-start justify-between gap-x-16 gap-y-8">
        <div className="min-w-rail flex-1">
          <p className="text-ui">
            <span className="font-medium">{model.modelName}</span>
            <span className="text-text-2"> · {facts.join(' · ')}</span>
          </p>
          {model.notice !== undefined && <p className="mt-4 text-small text-text-2">{model.notice}</p>}
        </div>
        {model.state === 'installed' && (
          <Button aria-label={t('voices.measureName', { name: model.modelName })} disabled={measuring} onClick={measure}>
            {measuring ? t('voices.measuring') : t('voices.measure')}
          </Button>
        )}
      </div>
      {error !== null && (
        <div className="mt-12">
          <ErrorCard error={error} run={{ retry: measure, wait: measure }} />
        </div>
      )}
    </li>
  );
}
