import { request } from 'node:http';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import type { ContractRouterClient } from '@orpc/contract';
import { type RawData, WebSocket } from 'ws';
import { z } from 'zod';
import { appErrors } from '../../shared/contract/clientErrors.ts';
import type { Contract } from '../../shared/contract/index.ts';
import { earlyLineMessages, lineData } from '../../shared/contract/lineData.ts';
import type { LineWire } from '../../shared/contract/voiceLine.ts';
import { AppError } from '../../shared/errors/appError.ts';
import { createInbox } from '../../shared/util/inbox.ts';

export type RuntimeClient = ContractRouterClient<Contract>;

/** A typed link over an open WebSocket; `ws` has other listener types than a browser's, so it is shown as a port. */
export function linkOf(socket: WebSocket): RPCLink<Record<never, never>> {
  return new RPCLink({
    interceptors: [appErrors],
    port: {
      onMessage: {
        addListener: (callback: (text: string) => void) => void socket.on('message', (data: RawData) => callback(data.toString())),
      },
      onDisconnect: { addListener: (callback: () => void) => void socket.on('close', callback) },
      postMessage: (text: string) => socket.send(text),
    },
  });
}

/**
 * Calls a server of this machine with its key. The key goes into a header, never into the address.
 *
 * @param url  as in http.json.
 * @throws AppError RUNTIME_UNAVAILABLE when nobody listens, UNAUTHORIZED when the key is refused.
 */
export async function connectToServer(url: string, key: string): Promise<{ client: RuntimeClient; close(): void }> {
  const socket = dial('/rpc', url, key);
  await opened(socket);
  return { client: createORPCClient(linkOf(socket)), close: () => socket.close() };
}

/** A voice line to that server. @throws AppError as `connectToServer`. */
export async function connectVoiceLine(url: string, key: string): Promise<LineWire> {
  const socket = dial('/api/voice/stream', url, key);
  const inbox = createInbox<string | Uint8Array<ArrayBuffer>>(earlyLineMessages, () => socket.terminate());
  socket.on('message', (data, isBinary) => {
    const message = lineData('down', isBinary ? data : data.toString());
    if (message === null) socket.terminate();
    else inbox.put(message);
  });
  await opened(socket);
  return {
    send(data) {
      if (socket.readyState === socket.OPEN) socket.send(data);
    },
    onMessage: inbox.listen,
    onClose(listener) {
      if (socket.readyState === socket.CLOSED) listener();
      else socket.on('close', listener);
    },
    close: () => socket.close(),
  };
}

function dial(path: '/rpc' | '/api/voice/stream', url: string, key: string): WebSocket {
  const address = new URL(path, url);
  address.protocol = 'ws:';
  return new WebSocket(address, { headers: { authorization: `Bearer ${key}` }, perMessageDeflate: false });
}

async function opened(socket: WebSocket): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (sent, response) => {
      sent.destroy();
      reject(new AppError(response.statusCode === 401 ? 'UNAUTHORIZED' : 'RUNTIME_UNAVAILABLE'));
    });
    socket.once('error', (cause) => reject(new AppError('RUNTIME_UNAVAILABLE', {}, { cause })));
  });
  socket.on('error', () => socket.terminate());
}

const Health = z.object({ status: z.string(), version: z.string(), instance: z.string() });
export type Health = z.infer<typeof Health>;

/**
 * Asks `/health` of a loopback address.
 *
 * @param timeoutMs  silence after which nobody is taken to be there.
 * @returns the answer, or null when nobody of ours is there.
 */
export function askHealth(url: string, timeoutMs = 2000): Promise<Health | null> {
  return new Promise((resolve) => {
    const none = () => resolve(null);
    const asking = request(new URL('/health', url), { timeout: timeoutMs }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
        if (text.length > 4096) response.destroy();
      });
      response.on('close', none);
      response.on('end', () => {
        const parsed = Health.safeParse(safeJson(text));
        resolve(parsed.success ? parsed.data : null);
      });
    });
    asking.on('timeout', () => asking.destroy());
    asking.on('error', none);
    asking.end();
  });
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
