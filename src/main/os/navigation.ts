import { dialog, shell, type WebContents } from 'electron';
import { isOurAddress, outsideAddress } from '../app/origin.ts';
import type { MainLog } from '../log.ts';

/** The window stays where it is; links leave for the person's browser only after a question that names the host (section 5). */
export function guardNavigation(contents: WebContents, log: MainLog): void {
  const refuse = (name: string) => (event: { preventDefault(): void }) => {
    log.warn('navigation.refused', { name });
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

  const leave = createLeave(log);
  contents.setWindowOpenHandler(({ url }) => {
    const outside = outsideAddress(url);
    if (outside === null) log.warn('window.refused');
    else leave(outside);
    return { action: 'deny' };
  });
}

/** One question at a time: a page that asks in a loop cannot bury the person. */
function createLeave(log: MainLog): (url: URL) => void {
  let asking = false;
  return (url) => {
    if (asking) return;
    asking = true;
    const target = url.protocol === 'mailto:' ? url.pathname : url.host;
    dialog
      .showMessageBox({
        type: 'question',
        message: `Open ${target.slice(0, 200)} outside Sotto?`,
        detail: url.href.slice(0, 500),
        buttons: ['Open', 'Stay here'],
        defaultId: 0,
        cancelId: 1,
        noLink: true,
      })
      .then(async ({ response }) => {
        if (response === 0) await shell.openExternal(url.href);
      })
      .catch((error: unknown) => log.error('link.failed', {}, error))
      .finally(() => {
        asking = false;
      });
  };
}
