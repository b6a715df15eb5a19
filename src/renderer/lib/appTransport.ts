import { RPCLink } from '@orpc/client/message-port';
import { appErrors } from '../../shared/contract/clientErrors.ts';
import { type PageBridge, parsePageLinkMessage } from '../../shared/contract/pageLink.ts';
import { AppError, fromWire } from '../../shared/errors/appError.ts';
import { deferred } from '../../shared/util/deferred.ts';
import type { Link, Transport } from './transport.ts';

declare global {
  interface Window {
    readonly sotto?: PageBridge;
  }
}

/**
 * The way of the app: main hands a port to the page (src/shared/contract/pageLink.ts).
 *
 * @param bridge  what the preload put on `window`.
 */
export function createAppTransport(bridge: PageBridge): Transport {
  return {
    kind: 'app',
    async open(signal, damaged) {
      const number = crypto.randomUUID();
      const port = deferred<MessagePort>();
      const gone = deferred<{ signedOut: boolean }>();
      const listener = (event: MessageEvent) => {
        if (event.source !== window || event.origin !== location.origin) return;
        const data: unknown = event.data;
        const message = parsePageLinkMessage(data);
        if (message?.number !== number) return;
        if (message.sotto === 'port' && event.ports[0] !== undefined) port.resolve(event.ports[0]);
        if (message.sotto === 'closed') gone.resolve({ signedOut: false });
      };
      window.addEventListener('message', listener);
      const stop = () => window.removeEventListener('message', listener);
      try {
        const reply = await bridge.connect(number, damaged);
        if (reply.status === 'failed') throw fromWire(reply.error);
        const opened = await Promise.race([port.promise, gone.promise.then(() => null)]);
        if (opened === null || signal.aborted) {
          opened?.close();
          // Main took it back while handing it over (a restart in between): not a failure that a person must cure.
          throw new AppError('SHUTTING_DOWN');
        }
        return linkOver(opened, gone.promise, stop);
      } catch (error) {
        stop();
        throw error;
      }
    },
  };
}

function linkOver(port: MessagePort, gone: Promise<{ signedOut: boolean }>, stop: () => void): Link {
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
  const end = (how: { signedOut: boolean }) => {
    stop();
    port.close();
    target.dispatchEvent(new Event('close'));
    closed.resolve(how);
  };
  void gone.then(end);
  port.start();
  return { link, closed: closed.promise, close: () => end({ signedOut: false }) };
}
