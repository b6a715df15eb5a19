import { type ReactNode, useEffect, useState } from 'react';
import { Button } from '../components/Button.tsx';
import { useAnnouncer } from '../lib/announcer.ts';
import { useConnection, useServices } from '../lib/services.tsx';
import { useTexts } from '../lib/texts.ts';

/** A loss that is over before this is not worth a word. */
const quietMs = 800;

/** Says while it lasts that the way to the runtime is lost: what is on the screen may be old, and sending waits (UX-01). */
export function LinkNotice() {
  const t = useTexts();
  const { connection } = useServices();
  const { kind } = useConnection();
  if (kind === 'signedOut') {
    return (
      <Notice title={t('link.signedOutTitle')} body={t('link.signedOutBody')}>
        <Button onClick={() => location.reload()}>{t('link.signIn')}</Button>
      </Notice>
    );
  }
  return kind === 'lost' ? <Lost onRetry={() => connection.retry()} /> : null;
}

function Lost({ onRetry }: { onRetry: () => void }) {
  const t = useTexts();
  const { clock, connection } = useServices();
  const say = useAnnouncer((s) => s.say);
  const [shown, setShown] = useState(false);
  useEffect(() => {
    let told = false;
    const takeBack = clock.setTimer(quietMs, () => {
      told = true;
      setShown(true);
      say(t('announce.lost'));
    });
    return () => {
      takeBack();
      if (told && connection.state.getState().kind === 'open') say(t('announce.back'));
    };
  }, [clock, connection, say, t]);
  if (!shown) return null;
  return (
    <Notice title={t('link.lostTitle')} body={t('link.lostBody')}>
      <Button onClick={onRetry}>{t('link.again')}</Button>
    </Notice>
  );
}

function Notice(props: { title: string; body: string; children: ReactNode }) {
  return (
    <section
      aria-label={props.title}
      className="soft-warn flex shrink-0 flex-wrap items-center gap-x-16 gap-y-8 border-x-0 border-t-0 px-16 py-8 text-ui"
    >
      <p className="min-w-0 flex-1 basis-list">
        <span className="font-medium">{props.title}</span> <span className="text-text-2">{props.body}</span>
      </p>
      {props.children}
    </section>
  );
}
