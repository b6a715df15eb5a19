import { useEffect, useState } from 'react';
import { Kbd } from '../../components/Kbd.tsx';
import { useServices } from '../../lib/services.tsx';
import { talkChord } from '../../lib/talkKey.ts';
import { useTexts } from '../../lib/texts.ts';

/** The talk key to be tried (UX-20). Here a press says nothing but that it was seen: nothing listens to it yet. */
export function TalkKey() {
  const t = useTexts();
  const { talkKey } = useServices();
  const [seen, setSeen] = useState<'no' | 'held' | 'yes'>('no');
  useEffect(() => talkKey.borrow({ press: () => setSeen('held'), release: () => setSeen('yes') }), [talkKey]);
  return (
    <section aria-label={t('onboarding.key.title')} className="mt-32">
      <h2 className="text-heading">{t('onboarding.key.title')}</h2>
      <p className="mt-4 text-ui text-text-2">{t('onboarding.key.about')}</p>
      <div className="card mt-12 flex flex-wrap items-center gap-12 p-16">
        <Kbd keys={talkChord()} />
        <span role="status" className={`text-ui font-medium ${seen === 'held' ? 'text-accent' : seen === 'yes' ? 'text-ok' : 'text-text'}`}>
          {seen === 'no'
            ? t('onboarding.key.press', { key: talkChord() })
            : seen === 'held'
              ? t('onboarding.key.held')
              : t('onboarding.key.works')}
        </span>
      </div>
      <p className="mt-8 text-small text-text-2">
        <span className="font-medium text-text">{t('onboarding.key.form')}</span> · {t('onboarding.key.formWhy')}
      </p>
      {seen === 'no' && <p className="mt-4 text-small text-text-3">{t('onboarding.key.nothing')}</p>}
    </section>
  );
}
