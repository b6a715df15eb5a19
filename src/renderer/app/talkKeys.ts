import { useEffect } from 'react';
import { useServices } from '../lib/services.tsx';
import { endsTalkChord, isTalkChord } from '../lib/talkKey.ts';

/**
 * The talk key of this window (VO-30, VO-105): the chord goes down, and whatever takes a key of it away is its end: any of its keys going
 * up, the window losing the focus, the page being hidden. Esc drops what is being said, or ends the spoken answer.
 */
export function useTalkKeys(): void {
  const { talkKey, voice, reader } = useServices();
  useEffect(() => {
    const onDown = (event: KeyboardEvent) => {
      if (event.isComposing || !isTalkChord(event)) return;
      event.preventDefault();
      if (!event.repeat) talkKey.down('chord', event.timeStamp);
    };
    const onUp = (event: KeyboardEvent) => {
      if (endsTalkChord(event)) talkKey.up('chord');
    };
    // Not before what lies on top has had its Esc (UX-81).
    const onEscape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      const reads = reader.reading.getState() !== null;
      if (!reads && !voice.isBusy()) return;
      event.preventDefault();
      if (reads) reader.stop();
      else voice.cancel();
    };
    const onHidden = () => {
      if (document.visibilityState === 'hidden') talkKey.letGo();
    };
    window.addEventListener('keydown', onDown, true);
    window.addEventListener('keyup', onUp, true);
    window.addEventListener('keydown', onEscape);
    window.addEventListener('blur', talkKey.letGo);
    window.addEventListener('pagehide', talkKey.letGo);
    document.addEventListener('visibilitychange', onHidden);
    return () => {
      window.removeEventListener('keydown', onDown, true);
      window.removeEventListener('keyup', onUp, true);
      window.removeEventListener('keydown', onEscape);
      window.removeEventListener('blur', talkKey.letGo);
      window.removeEventListener('pagehide', talkKey.letGo);
      document.removeEventListener('visibilitychange', onHidden);
    };
  }, [talkKey, voice, reader]);
}
