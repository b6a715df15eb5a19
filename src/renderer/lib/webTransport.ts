import { RPCLink } from '@orpc/client/websocket';
import { appErrors } from '../../shared/contract/clientErrors.ts';
import { earlyLineMessages, lineData } from '../../shared/contract/lineData.ts';
import { AppError } from '../../shared/errors/appError.ts';
import { deferred } from '../../shared/util/deferred.ts';
import { createInbox } from '../../shared/util/inbox.ts';
import type { Transport, VoiceLink } from './transport.ts';

/** What the server closes with when the sign-in of this page ended: 1008 is the protocol's "policy", 4401 our own. */
const signedOutCodes: readonly number[] = [1008, 4401];

/**
 * The way of the served page: WebSockets at `/rpc` and `/api/voice/stream` of the same origin; the browser sends the cookie.
 *
 * @param signedOut  asked when a socket could not even be opened: a page does not see the status of that refusal, and without asking
 *   one whose sign-in ended while the machine slept would try for ever.
 */
export function createWebTransport(
  page: Pick<Location, 'protocol' | 'host'> = location,
  signedOut: () => Promise<boolean> = askSignedOut,
): Transport {
  return {
    kind: 'web',
    open(signal) {
      const opened = deferred<void>();
      const closed = deferred<{ signedOut: boolean }>();
      const socket = new WebSocket(socketAddress(page, '/rpc'));
      const abort = () => socket.close();
      signal.addEventListener('abort', abort, { once: true });
      socket.addEventListener('open', () => opened.resolve());
      let wasOpen = false;
      socket.addEventListener('open', () => {
        wasOpen = true;
      });
      const onClose = async (code: number) => {
        const out = signedOutCodes.includes(code) || (!wasOpen && !signal.aborted && (await signedOut()));
        opened.reject(new AppError(out ? 'UNAUTHORIZED' : 'RUNTIME_UNAVAILABLE'));
        closed.resolve({ signedOut: out });
      };
      socket.addEventListener('close', (event) => {
        signal.removeEventListener('abort', abort);
        void onClose(event.code);
      });
      const link = new RPCLink({ websocket: socket, interceptors: [appErrors] });
      return opened.promise.then(() => ({ link, closed: closed.promise, close: () => socket.close() }));
    },
    openVoice(signal) {
      const opened = deferred<void>();
      const closed = deferred<void>();
      const socket = new WebSocket(socketAddress(page, '/api/voice/stream'));
      socket.binaryType = 'arraybuffer';
      const abort = () => socket.close();
      signal.addEventListener('abort', abort, { once: true });
      socket.addEventListener('open', () => opened.resolve());
      socket.addEventListener('close', () => {
        signal.removeEventListener('abort', abort);
        // Whether this page is still signed in, its calls find out.
        opened.reject(new AppError('RUNTIME_UNAVAILABLE'));
        closed.resolve();
      });
      const onMessage = messagesOf(socket);
      return opened.promise.then(
        (): VoiceLink => ({
          send(data) {
            if (socket.readyState === WebSocket.OPEN) socket.send(data);
          },
          onMessage,
          waiting: () => socket.bufferedAmount,
          closed: closed.promise,
          close: abort,
        }),
      );
    },
  };
}

function messagesOf(socket: WebSocket): VoiceLink['onMessage'] {
  const inbox = createInbox<string | Uint8Array<ArrayBuffer>>(earlyLineMessages, () => socket.close());
  socket.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const message = lineData('down', data instanceof ArrayBuffer ? new Uint8Array(data) : data);
    if (message !== null) inbox.put(message);
  });
  return inbox.listen;
}

async function askSignedOut(): Promise<boolean> {
  try {
    return (await fetch('/ready', { cache: 'no-store' })).status === 401;
  } catch {
    return false;
  }
}

/** @param page  where the page was loaded from. */
export function socketAddress(page: Pick<Location, 'protocol' | 'host'>, path: '/rpc' | '/api/voice/stream'): string {
  return `${page.protocol === 'https:' ? 'wss' : 'ws'}://${page.host}${path}`;
}
