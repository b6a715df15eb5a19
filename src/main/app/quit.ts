import { app, BrowserWindow } from 'electron';
import type { MainLog } from '../log.ts';
import type { RuntimeProcess } from '../processes/runtime.ts';

/** Holds the app's end back until the runtime is down: it is asked, then waited for, then killed. */
export function quitInOrder(runtime: RuntimeProcess, log: MainLog): void {
  let state: 'running' | 'stopping' | 'stopped' = 'running';
  app.on('before-quit', (event) => {
    if (state === 'stopped') return;
    event.preventDefault();
    if (state === 'stopping') return;
    state = 'stopping';
    // A person who quits sees it at once; the page's own complaint that the runtime is gone is not for them.
    for (const window of BrowserWindow.getAllWindows()) window.hide();
    runtime
      .dispose()
      .catch((error: unknown) => log.error('runtime.stopFailed', {}, error))
      .finally(() => {
        state = 'stopped';
        app.quit();
      });
  });
}
