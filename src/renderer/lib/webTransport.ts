import { RPCLink } from '@orpc/client/websocket';
import { appErrors } from '../../shared/contract/clientErrors.ts';
import { AppError } from '../../shared/errors/appError.ts';
import { deferred } from '../../shared/util/deferred.ts';
import type { Transport } from './transport.ts';

/** What the server closes with when the sign-in of this page ended: 1008 is the protocol's "policy", 4401 our own. */
const signedOutCodes: readonly number[] = [1008, 4401];

/** The way of the served page: a WebSocket at `/rpc` of the same origin; the browser sends the cookie. */
export function createWebTransport(address: string = rpcAddress(location)): Transport {
  return {
    kind: 'web',
    open(signal) {
      const opened = deferred<void>();
      const closed = deferred<{ signedOut: boolean }>();
      const socket = new WebSocket(address);
      const abort = () => socket.close();
      signal.addEventListener('abort', abort, { once: true });
      socket.addEventListener('open', () => opened.resolve());
      socket.addEventListener('close', (event) => {
        signal.removeEventListener('abort', abort);
        opened.reject(new AppError(signedOutCodes.includes(event.code) ? 'UNAUTHORIZED' : 'RUNTIME_UNAVAILABLE'));
        closed.resolve({ signedOut: signedOutCodes.includes(event.code) });
      });
      const link = new RPCLink({ websocket: socket, interceptors: [appErrors] });
      return opened.promise.then(() => ({ link, closed: closed.promise, close: () => socket.close() }));
    },
  };
}

/** @param page  where the page was loaded from. */
export function rpcAddress(page: Pick<Location, 'protocol' | 'host'>): string {
  return `${page.protocol === 'https:' ? 'wss' : 'ws'}://${page.host}/rpc`;
}
