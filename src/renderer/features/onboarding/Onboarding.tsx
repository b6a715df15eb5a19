import { Check } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Settings } from '../../../shared/contract/settings.ts';
import { type AppError, toAppError } from '../../../shared/errors/appError.ts';
import { ErrorCard } from '../../components/ErrorCard.tsx';
import { useServices } from '../../lib/services.tsx';
import { useTexts } from '../../lib/texts.ts';
import { FirstTalk } from './FirstTalk.tsx';
import { LanguageMenu } from './LanguageMenu.tsx';
import { MachineStep } from './MachineStep.tsx';
import { MicrophoneStep } from './MicrophoneStep.tsx';
import { PrivacyStep } from './PrivacyStep.tsx';
import { type Step, type StepProps, steps } from './steps.ts';

const views: Record<Step, (props: StepProps) => React.ReactNode> = {
  privacy: PrivacyStep,
  microphone: MicrophoneStep,
  machine: MachineStep,
  talk: FirstTalk,
};

/**
 * The first steps (UX-17): one column, nothing beside it. Where a person stands is a setting, so that closing the window loses nothing;
 * if it cannot be kept, the steps go on all the same and say so.
 *
 * @param onDone  asked to leave while the setting may not be kept.
 */
export function Onboarding({ settings, onDone }: { settings: Settings; onDone: () => void }) {
  const t = useTexts();
  const { api } = useServices();
  const [error, setError] = useState<AppError | null>(null);
  // Ahead of the setting while it is stored, and in its place where it cannot be.
  const [ahead, setAhead] = useState<Step | null>(null);
  const step = ahead ?? (settings.firstRun === 'done' ? 'privacy' : settings.firstRun);
  const [allowed, setAllowed] = useState(false);
  const onAllowed = useCallback(() => setAllowed(true), []);
  const n = steps.indexOf(step) + 1;
  const heading = useRef<HTMLDivElement>(null);

  const keep = useCallback(
    (change: Partial<Settings>) => {
      setError(null);
      return api.settings.set(change).then(
        () => true,
        (thrown: unknown) => {
          setError(toAppError(thrown));
          return false;
        },
      );
    },
    [api],
  );
  const go = useCallback(
    (to: Settings['firstRun']) => {
      if (to !== 'done') setAhead(to);
      void keep({ firstRun: to }).then((kept) => {
        if (to === 'done') onDone();
        else if (kept) setAhead((now) => (now === to ? null : now));
      });
    },
    [keep, onDone],
  );

  const shown = useRef(step);
  useEffect(() => {
    if (shown.current === step) return;
    shown.current = step;
    heading.current?.querySelector('h1')?.focus();
  }, [step]);

  const View = views[step];
  return (
    <main id="content" data-region="content" tabIndex={-1} className="min-h-0 flex-1 overflow-y-auto px-16">
      <div className="mx-auto flex min-h-full w-full max-w-column flex-col pt-24">
        <header className="flex items-center justify-between gap-16">
          <p className="text-heading">{t('app.name')}</p>
          <LanguageMenu />
        </header>
        <nav aria-label={t('onboarding.steps')} className="mt-16">
          <ol className="flex gap-8">
            {steps.map((name, i) => (
              <li key={name} className="min-w-0 flex-1">
                <button
                  type="button"
                  aria-current={name === step ? 'step' : undefined}
                  onClick={() => name !== step && go(name)}
                  className={`move-press flex w-full items-center gap-4 border-t-2 pt-8 pb-4 text-start text-small ${
                    name === step ? 'border-accent font-medium text-text' : i < n ? 'border-control text-text-2' : 'border-line text-text-3'
                  } hover:text-text`}
                >
                  {i + 1 < n && <Check size={12} strokeWidth={1.75} aria-hidden="true" className="shrink-0" />}
                  <span className="truncate">{t(`onboarding.step.${name}`)}</span>
                </button>
              </li>
            ))}
          </ol>
        </nav>
        <div ref={heading} className="flex flex-1 flex-col pt-32">
          {error !== null && (
            <div className="pb-24">
              <ErrorCard error={error} run={{ retry: () => setError(null), dismiss: () => setError(null) }} />
            </div>
          )}
          <View settings={settings} keep={keep} go={go} allowed={allowed} onAllowed={onAllowed} />
        </div>
      </div>
    </main>
  );
}
