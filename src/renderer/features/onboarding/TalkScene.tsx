import { useTexts } from '../../lib/texts.ts';
import { StepFrame } from './StepFrame.tsx';
import type { StepProps } from './steps.ts';

export function TalkScene({ go }: StepProps) {
  const t = useTexts();
  return (
    <StepFrame step="talk" title={t('onboarding.talk.ready')} done={false} next={t('onboarding.talk.anyway')} go={go}>
      {null}
    </StepFrame>
  );
}
