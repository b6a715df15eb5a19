import { shell, type WebContents } from 'electron';
import { isOurAddress, outsideAddress } from '../app/origin.ts';
import type { MainLog } from '../log.ts';

/** ms. A link opens right after the press that asked for it; a script that opens windows by itself comes without one. */
const pressCountsMs = 1_000;
const presses: ReadonlySet<string> = new Set(['mouseDown', 'mouseUp', 'keyDown', 'rawKeyDown', 'touchEnd', 'gestureTap']);

/**
 * The window stays where it is. `https:` and `mailto:` links, whose host the page shows beside them, leave for the person's own programs
 * after a press, one for each (section 5).
 *
 * @param nowMs  monotonic ms.
 */
export function guardNavigation(contents: WebContents, log: MainLog, nowMs: () => number): void {
  const refuse = (kind: string) => (event: { preventDefault(): void }) => {
    log.warn('navigation.refused', { kind });
    event.preventDefault();
  };
  // A reload of our own page is a navigation too, and the only one.
  contents.on('will-navigate', (event, url) => {
    if (!isOurAddress(url)) refuse('will-navigate')(event);
  });
  contents.on('will-frame-navigate', (details) => {
    if (!details.isMainFrame || !isOurAddress(details.url)) refuse('will-frame-navigate')(details);
  });
  contents.on('will-redirect', refuse('will-redirect'));
  contents.on('will-attach-webview', refuse('will-attach-webview'));

  let pressedAtMs = Number.NEGATIVE_INFINITY;
  contents.on('input-event', (_event, input) => {
    if (presses.has(input.type)) pressedAtMs = nowMs();
  });
  contents.setWindowOpenHandler(({ url }) => {
    const outside = outsideAddress(url);
    if (outside === null || nowMs() - pressedAtMs > pressCountsMs) {
      log.warn('window.refused', { why: outside === null ? 'scheme' : 'noPress' });
    } else {
      pressedAtMs = Number.NEGATIVE_INFINITY;
      shell.openExternal(outside.href).catch((error: unknown) => log.error('link.failed', {}, error));
    }
    return { action: 'deny' };
  });
}
