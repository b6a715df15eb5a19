import { app } from 'electron';
import type { MainLog } from '../log.ts';
import type { PagePorts } from '../processes/pagePorts.ts';
import type { RuntimeProcess } from '../processes/runtime.ts';

/**
 * Holds the app's end back until the runtime is down. The windows are closed by then: what a page sends as it goes (a draft) is on its
 * way and still has a runtime to go to. That is asked to stop, then waited for, then killed.
 */
export function quitInOrder(deps: { ports: PagePorts; runtime: RuntimeProcess; log: MainLog }): void {
  const { ports, runtime, log } = deps;
  let state: 'running' | 'stopping' | 'stopped' = 'running';
  app.on('will-quit', (event) => {
    if (state === 'stopped') return;
    event.preventDefault();
    if (state === 'stopping') return;
    state = 'stopping';
    ports
      .settled()
      .then(() => runtime.dispose())
      .catch((error: unknown) => log.error('runtime.stopFailed', {}, error))
      .finally(() => {
        state = 'stopped';
        // Not before this event is over: until then Electron takes itself to be quitting and ignores the call.
        setImmediate(() => app.quit());
      });
  });
}
