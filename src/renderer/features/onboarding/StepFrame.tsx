import type { ReactNode } from 'react';
import { Button } from '../../components/Button.tsx';
import { useTexts } from '../../lib/texts.ts';
import { after, before, type Step, type StepProps } from './steps.ts';

/**
 * What every step has: its title, what it is about, its content, and the way on at the foot, which stays in view.
 *
 * @param done    whether "Go on" is the one filled button; else the step has its own, and this one skips it.
 * @param next    words of the way on, if they are not the usual ones.
 * @param onNext  done before going on.
 */
export function StepFrame(props: {
  step: Step;
  title: string;
  about?: string;
  done: boolean;
  /** The title is said and not shown: what happens has the place. */
  plain?: boolean;
  next?: string;
  skip?: { name: string; run: () => void };
  onNext?: () => void;
  /** The one filled button of a step that is not done. */
  deed?: ReactNode;
  go: StepProps['go'];
  children: ReactNode;
}) {
  const t = useTexts();
  const { step, go } = props;
  const back = before(step);
  const next = () => {
    props.onNext?.();
    go(after(step));
  };
  return (
    <>
      <h1 tabIndex={-1} className={props.plain ? 'sr-only' : 'text-display outline-none'}>
        {props.title}
      </h1>
      {props.about !== undefined && <p className="mt-8 text-body text-text-2">{props.about}</p>}
      <div className={`flex flex-1 flex-col pb-32 ${props.plain ? '' : 'pt-24'}`}>{props.children}</div>
      <div className="sticky bottom-0 flex flex-wrap items-center justify-end gap-8 border-t border-line bg-page py-12">
        {back !== null && (
          <Button look="quiet" className="-ml-8 mr-auto" onClick={() => go(back)}>
            {t('onboarding.back')}
          </Button>
        )}
        {props.skip !== undefined && (
          <Button look="quiet" onClick={props.skip.run}>
            {props.skip.name}
          </Button>
        )}
        {props.done ? (
          <Button look="primary" onClick={next}>
            {props.next ?? t('onboarding.next')}
          </Button>
        ) : (
          <Button look={props.deed == null || props.deed === false ? 'plain' : 'quiet'} onClick={next}>
            {props.next ?? t('onboarding.skip')}
          </Button>
        )}
        {props.deed}
      </div>
    </>
  );
}
