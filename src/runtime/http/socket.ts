import type { WebSocket } from 'ws';
import type { Clock } from '../../shared/util/clock.ts';
import type { Wire } from '../procedures/serveConnection.ts';
import type { Caller, Keys } from '../store/keys.ts';
import type { HttpLimits } from './limits.ts';
import type { Rpc } from './rpc.ts';

/** Why we close. 4401: the key was revoked or the page's 12 h are over; the page then shows the sign-in form. */
export const closeCodes = { shutdown: 1001, unsupported: 1003, signedOut: 4401 } as const;

export type Sockets = {
  readonly size: number;
  add(socket: WebSocket, caller: Caller | null): void;
  /** Closes the sockets of one key, or all; whoever does not answer the close in half a second is cut. */
  close(code: number, reason: string, keyId?: string): void;
  [Symbol.dispose](): void;
};

/**
 * Open WebSockets, each a wire of the router; a heartbeat that notices readers who went away and callers who
 * are no longer allowed.
 */
export function createSockets(deps: { rpc: Rpc; keys: Keys; clock: Clock; limits: HttpLimits }): Sockets {
  const { rpc, keys, clock, limits } = deps;
  const open = new Map<WebSocket, { caller: Caller | null; answered: boolean }>();
  let stopBeat = () => {};

  const shut = (socket: WebSocket, code: number, reason: string) => {
    socket.close(code, reason);
    clock.setTimer(500, () => socket.terminate());
  };

  const beat = () => {
    for (const [socket, state] of open) {
      if (!state.answered) socket.terminate();
      else if (state.caller !== null && !keys.isLive(state.caller.keyId)) shut(socket, closeCodes.signedOut, 'signed out');
      else {
        state.answered = false;
        socket.ping();
      }
    }
    stopBeat = clock.setTimer(limits.heartbeatMs, beat);
  };
  stopBeat = clock.setTimer(limits.heartbeatMs, beat);

  return {
    get size() {
      return open.size;
    },
    add(socket, caller) {
      const state = { caller, answered: true };
      open.set(socket, state);
      socket.on('pong', () => {
        state.answered = true;
      });
      socket.on('close', () => open.delete(socket));
      socket.on('error', () => socket.terminate());
      const link: Wire = {
        send: (text) => socket.send(text),
        onClose: (listener) => void socket.on('close', listener),
        onMessage: (listener) =>
          void socket.on('message', (data, isBinary) => {
            if (caller !== null && !keys.use(caller.keyId)) shut(socket, closeCodes.signedOut, 'signed out');
            // Nothing that exists takes bytes; sound will have a socket of its own.
            else if (isBinary) shut(socket, closeCodes.unsupported, 'text frames only');
            else listener(data.toString());
          }),
      };
      rpc.connect(link, { caller, room: () => roomIn(socket, clock, limits.socketBufferBytes) });
    },
    close(code, reason, keyId) {
      for (const [socket, { caller }] of open) if (keyId === undefined || caller?.keyId === keyId) shut(socket, code, reason);
    },
    [Symbol.dispose]() {
      stopBeat();
      for (const socket of open.keys()) socket.terminate();
    },
  };
}

/** Resolves when less than `bytes` wait to be sent, or the socket is gone. */
async function roomIn(socket: WebSocket, clock: Clock, bytes: number): Promise<void> {
  while (socket.bufferedAmount > bytes && socket.readyState === socket.OPEN)
    await new Promise<void>((resolve) => void clock.setTimer(20, resolve));
}
