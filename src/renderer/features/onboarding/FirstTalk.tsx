import type { ModelSlot } from '../../../shared/domain/models.ts';
import { starterBundle } from '../../../shared/domain/starterBundle.ts';
import { Button } from '../../components/Button.tsx';
import { Progress } from '../../components/Progress.tsx';
import { StillRows } from '../../components/StillRows.tsx';
import { bytes, percent } from '../../lib/format.ts';
import { useModelList } from '../../lib/models.ts';
import { useLive } from '../../lib/services.tsx';
import { useTexts } from '../../lib/texts.ts';
import { useUi } from '../../lib/ui.ts';
import { bundleView } from './bundle.ts';
import { StepFrame } from './StepFrame.tsx';
import type { StepProps } from './steps.ts';
import { TalkScene } from './TalkScene.tsx';

/** What talking needs, and what typing needs. */
const needs: Record<'talk' | 'type', readonly ModelSlot[]> = { talk: ['activity', 'listen', 'speak', 'language'], type: ['language'] };

/** The first spoken answer (UX-157). It starts by itself as soon as the small bundle is there and proven (UX-22). */
export function FirstTalk(props: StepProps) {
  const t = useTexts();
  const { settings } = props;
  const list = useModelList();
  const jobs = useLive('downloads').value?.jobs ?? [];
  const use = settings.typeOnly ? 'type' : 'talk';
  const missing = needs[use].filter((slot) => !list.installed.some((model) => model.slot === slot && model.state === 'proven'));

  if (list.entries === null)
    return (
      <StepFrame step="talk" title={t('onboarding.talk.notYet')} done={false} next={t('onboarding.talk.anyway')} go={props.go}>
        <StillRows label={t('model.catalogueLoading')} count={2} />
      </StepFrame>
    );
  if (missing.length > 0)
    return <NotYet {...props} missing={missing} bundle={bundleView(starterBundle(list.entries, use), list.installed, jobs)} />;
  if (use === 'type')
    return (
      <StepFrame
        step="talk"
        title={t('onboarding.talk.readyType')}
        about={t('onboarding.talk.readyTypeAbout')}
        done
        next={t('onboarding.talk.toChat')}
        onNext={() => useUi.getState().openChat(null)}
        go={props.go}
      >
        {null}
      </StepFrame>
    );
  return <TalkScene {...props} />;
}

/** What is still on its way. */
function NotYet({ missing, bundle, go }: StepProps & { missing: readonly ModelSlot[]; bundle: ReturnType<typeof bundleView> }) {
  const t = useTexts();
  const what = missing.map((slot) => t(`slots.${slot}`)).join(' · ');
  const fraction = bundle.totalBytes === 0 ? null : bundle.receivedBytes / bundle.totalBytes;
  const moves = bundle.state === 'running' || bundle.state === 'checking' || bundle.state === 'waiting';
  const words = t('onboarding.machine.received', { received: bytes(bundle.receivedBytes), total: bytes(bundle.totalBytes) });
  return (
    <StepFrame
      step="talk"
      title={t('onboarding.talk.notYet')}
      done={false}
      next={t('onboarding.talk.anyway')}
      onNext={() => useUi.getState().openChat(null)}
      go={go}
    >
      <p className="text-body">{t('onboarding.talk.missing', { what })}</p>
      {moves ? (
        <>
          <p className="mt-8 text-ui text-text-2">{t('onboarding.talk.missingDo')}</p>
          <div className="mt-16">
            <Progress
              label={t('onboarding.machine.progress', { state: t('onboarding.machine.running') })}
              fraction={fraction}
              words={words}
            />
            <p className="mt-8 flex justify-between gap-16 text-small text-text-2 tabular-nums">
              <span>{words}</span>
              {fraction !== null && <span>{percent(fraction)}</span>}
            </p>
          </div>
        </>
      ) : (
        <Button look="primary" className="mt-16" onClick={() => go('machine')}>
          {t('onboarding.talk.toMachine')}
        </Button>
      )}
    </StepFrame>
  );
}
