import { Switch } from '../../components/Switch.tsx';
import { useTexts } from '../../lib/texts.ts';
import { StepFrame } from './StepFrame.tsx';
import type { StepProps } from './steps.ts';

const sentences = ['here', 'leaves', 'ledger'] as const;
const questions = ['lookForUpdates', 'searchHub', 'lookForModels'] as const;

/** Three sentences and three questions; all are off until they are answered (UX-18). */
export function PrivacyStep({ settings, keep, go }: StepProps) {
  const t = useTexts();
  return (
    <StepFrame step="privacy" title={t('onboarding.privacy.title')} done go={go}>
      <div className="flex flex-col gap-8 text-body">
        {sentences.map((name) => (
          <p key={name}>{t(`onboarding.privacy.${name}`)}</p>
        ))}
      </div>
      <section aria-label={t('onboarding.privacy.questions')} className="mt-32">
        <h2 className="text-heading">{t('onboarding.privacy.questions')}</h2>
        <p className="mt-4 text-small text-text-2">{t('onboarding.privacy.questionsAbout')}</p>
        <div className="mt-8 border-t border-line">
          {questions.map((name) => (
            <Switch
              key={name}
              id={name}
              title={t(`privacy.${name}.title`)}
              about={t(`privacy.${name}.about`)}
              on={settings[name]}
              words={{ on: t('privacy.on'), off: t('privacy.off') }}
              onChange={(on) => void keep({ [name]: on })}
            />
          ))}
        </div>
      </section>
    </StepFrame>
  );
}
