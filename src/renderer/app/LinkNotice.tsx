import { useEffect, useRef, useState } from 'react';
import { Button } from '../components/Button.tsx';
import { useAnnouncer } from '../lib/announcer.ts';
import { useConnection, useServices } from '../lib/services.tsx';
import { useTexts } from '../lib/texts.ts';

/** A loss that is over before this is not worth a word. */
const quietMs = 800;

/** Says while it lasts that the way to the runtime is lost: what is on the screen may be old, and sending waits (UX-01). */
export function LinkNotice() {
  const t = useTexts();
  const { connection, clock } = useServices();
  const state = useConnection();
  const say = useAnnouncer((s) => s.say);
  const [shown, setShown] = useState(false);
  const told = useRef(false);
  const lost = state.kind === 'lost';
  const signedOut = state.kind === 'signedOut';
  useEffect(() => {
    if (!lost) {
      setShown(false);
      if (told.current && state.kind === 'open') {
        told.current = false;
        say(t('announce.back'));
      }
      return;
    }
    return clock.setTimer(quietMs, () => {
      setShown(true);
      told.current = true;
      say(t('announce.lost'));
    });
  }, [lost, state.kind, clock, say, t]);
  if (!signedOut && !(lost && shown)) return null;
  return (
    <section
      aria-label={signedOut ? t('link.signedOutTitle') : t('link.lostTitle')}
      className="soft-warn flex shrink-0 flex-wrap items-center gap-x-16 gap-y-8 border-x-0 border-t-0 px-16 py-8 text-ui"
    >
      <p className="min-w-0 flex-1 basis-list">
        <span className="font-medium">{signedOut ? t('link.signedOutTitle') : t('link.lostTitle')}</span>{' '}
        <span className="text-text-2">{signedOut ? t('link.signedOutBody') : t('link.lostBody')}</span>
      </p>
      {signedOut ? (
        <Button onClick={() => location.reload()}>{t('link.signIn')}</Button>
      ) : (
        <Button onClick={() => connection.retry()}>{t('link.again')}</Button>
      )}
    </section>
  );
}
