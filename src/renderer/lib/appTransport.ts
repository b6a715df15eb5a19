import { RPCLink } from '@orpc/client/message-port';
import { appErrors } from '../../shared/contract/clientErrors.ts';
import { lineData, wholeBytes } from '../../shared/contract/lineData.ts';
import { type ConnectOptions, type PageBridge, parsePageLinkMessage } from '../../shared/contract/pageLink.ts';
import { AppError, fromWire } from '../../shared/errors/appError.ts';
import { deferred } from '../../shared/util/deferred.ts';
import type { Link, Transport, VoiceLink } from './transport.ts';

declare global {
  interface Window {
    readonly sotto?: PageBridge;
  }
}

/** A port of main; `gone` resolves when main says that it is dead, and `stop` ends the waiting for that. */
type Taken = { readonly port: MessagePort; readonly gone: Promise<void>; readonly stop: () => void };

/**
 * The way of the app: main hands a port to the page (src/shared/contract/pageLink.ts).
 *
 * @param bridge  what the preload put on `window`.
 */
export function createAppTransport(bridge: PageBridge): Transport {
  return {
    kind: 'app',
    open: async (signal, damaged) => linkOver(await takePort(bridge, damaged === undefined ? undefined : { damaged }, signal)),
    openVoice: async (signal) => voiceOver(await takePort(bridge, { purpose: 'voice' }, signal), signal),
  };
}

async function takePort(bridge: PageBridge, options: ConnectOptions | undefined, signal: AbortSignal): Promise<Taken> {
  const number = crypto.randomUUID();
  const port = deferred<MessagePort>();
  const gone = deferred<void>();
  const listener = (event: MessageEvent) => {
    if (event.source !== window || event.origin !== location.origin) return;
    const data: unknown = event.data;
    const message = parsePageLinkMessage(data);
    if (message?.number !== number) return;
    if (message.sotto === 'port' && event.ports[0] !== undefined) port.resolve(event.ports[0]);
    if (message.sotto === 'closed') gone.resolve();
  };
  window.addEventListener('message', listener);
  const stop = () => window.removeEventListener('message', listener);
  try {
    const reply = await bridge.connect(number, options);
    if (reply.status === 'failed') throw fromWire(reply.error);
    const opened = await Promise.race([port.promise, gone.promise.then(() => null)]);
    if (opened === null || signal.aborted) {
      opened?.close();
      // Main took it back while handing it over (a restart in between): not a failure that a person must cure.
      throw new AppError('SHUTTING_DOWN');
    }
    return { port: opened, gone: gone.promise, stop };
  } catch (error) {
    stop();
    throw error;
  }
}

function linkOver({ port, gone, stop }: Taken): Link {
  // Chromium 114 has no close event on a port, so the calls that hang on it are ended by hand: oRPC listens to this target.
  const target = new EventTarget();
  port.addEventListener('message', (event: MessageEvent<unknown>) =>
    target.dispatchEvent(new MessageEvent('message', { data: event.data })),
  );
  const link = new RPCLink({
    port: {
      addEventListener: target.addEventListener.bind(target) as MessagePort['addEventListener'],
      postMessage: port.postMessage.bind(port),
    },
    interceptors: [appErrors],
  });
  const closed = deferred<{ signedOut: boolean }>();
  const end = () => {
    stop();
    port.close();
    target.dispatchEvent(new Event('close'));
    closed.resolve({ signedOut: false });
  };
  void gone.then(end);
  port.start();
  return { link, closed: closed.promise, close: end };
}

function voiceOver({ port, gone, stop }: Taken, signal: AbortSignal): VoiceLink {
  const closed = deferred<void>();
  let over = false;
  const end = () => {
    over = true;
    stop();
    signal.removeEventListener('abort', end);
    port.close();
    closed.resolve();
  };
  signal.addEventListener('abort', end, { once: true });
  void gone.then(end);
  return {
    // Not transferred: a port that leaves the process copies in any case, and Electron's main loses a buffer that was.
    send(data) {
      if (!over) port.postMessage(typeof data === 'string' ? data : wholeBytes(data));
    },
    onMessage(listener) {
      port.addEventListener('message', (event: MessageEvent<unknown>) => {
        const message = lineData('down', event.data);
        if (message !== null && !over) listener(message);
      });
      // Only now: until then the port keeps what comes.
      port.start();
    },
    waiting: () => 0,
    closed: closed.promise,
    close: end,
  };
}
