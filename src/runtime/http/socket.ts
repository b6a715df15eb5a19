import type { WebSocket } from 'ws';
import { AppError, isAppError, toAppError } from '../../shared/errors/appError.ts';
import type { Clock } from '../../shared/util/clock.ts';
import type { Logger } from '../platform/ports.ts';
import type { Caller, Keys } from '../store/keys.ts';
import { parseJson } from './json.ts';
import type { HttpLimits } from './limits.ts';
import { type Rpc, rpcError } from './rpc.ts';

/** Why we close. 4401: the key was revoked or the page's 12 h are over; the page then shows the sign-in form. */
export const closeCodes = { shutdown: 1001, unsupported: 1003, malformed: 1007, signedOut: 4401 } as const;

export type Sockets = {
  readonly size: number;
  add(socket: WebSocket, caller: Caller | null): void;
  /** Closes the sockets of one key, or all; whoever does not answer the close in half a second is cut. */
  close(code: number, reason: string, keyId?: string): void;
  [Symbol.dispose](): void;
};

/**
 * Open WebSockets: frames in, checked before any procedure sees them; a heartbeat that notices readers who went away and callers who
 * are no longer allowed.
 */
export function createSockets(deps: { rpc: Rpc; keys: Keys; clock: Clock; log: Logger; limits: HttpLimits }): Sockets {
  const { rpc, keys, clock, log, limits } = deps;
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
      // The socket as the handler needs it; its identity is what calls belong to.
      const peer = {
        send: (message: string | ArrayBufferLike | Uint8Array) => {
          socket.send(typeof message === 'string' || message instanceof Uint8Array ? message : Buffer.from(message));
          return 0;
        },
      };
      const context = { caller, room: () => roomIn(socket, clock, limits.socketBufferBytes) };
      socket.on('pong', () => {
        state.answered = true;
      });
      socket.on('close', () => {
        open.delete(socket);
        rpc.frames.close(peer);
      });
      socket.on('error', () => socket.terminate());
      socket.on('message', (data, isBinary) => {
        if (caller !== null && !keys.use(caller.keyId)) return shut(socket, closeCodes.signedOut, 'signed out');
        // Nothing that exists takes bytes; sound will have a socket of its own.
        if (isBinary) return shut(socket, closeCodes.unsupported, 'text frames only');
        const text = data.toString();
        const fault = frameFault(text, limits.jsonDepth);
        if (fault === null) {
          rpc.frames.message(peer, text, { context }).catch((error: unknown) => {
            log.error('http.frame_failed', { code: toAppError(error).code }, error);
            shut(socket, closeCodes.malformed, 'not understood');
          });
        } else if (fault.id === null) shut(socket, closeCodes.malformed, 'not understood');
        else socket.send(JSON.stringify({ i: fault.id, p: { s: 400, b: { json: rpcError(fault.error).toJSON() } } }));
      });
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

/**
 * What is wrong with a frame, before the library sees it: it would let a caller wait for ever for the answer to a frame that it
 * cannot read. With an id the one call fails; without one nobody can be told but by closing.
 */
function frameFault(text: string, depth: number): { id: string | null; error: AppError } | null {
  let frame: unknown;
  try {
    // Four levels are the envelope's.
    frame = parseJson(text, depth + 4);
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { id: /^\{"i":"([A-Za-z0-9_-]{1,64})"/.exec(text)?.[1] ?? null, error };
  }
  const { i, t, p } = Object(frame) as { i?: unknown; t?: unknown; p?: unknown };
  const id = typeof i === 'string' && i.length <= 64 ? i : null;
  const fault = (field: string) => ({ id, error: new AppError('INVALID_INPUT', { field, reason: 'type' }) });
  if (id === null) return fault('id');
  if (t !== undefined && t !== 1) return t === 3 || t === 4 ? null : fault('kind');
  const { u, m, h } = Object(p) as { u?: unknown; m?: unknown; h?: unknown };
  if (typeof u !== 'string' || !u.startsWith('/') || u.length > 512) return fault('call');
  if (m !== undefined && m !== 'POST') return fault('method');
  if (h !== undefined && Object.keys(Object(h)).some((name) => name !== 'last-event-id')) return fault('headers');
  return null;
}

/** Resolves when less than `bytes` wait to be sent, or the socket is gone. */
async function roomIn(socket: WebSocket, clock: Clock, bytes: number): Promise<void> {
  while (socket.bufferedAmount > bytes && socket.readyState === socket.OPEN)
    await new Promise<void>((resolve) => void clock.setTimer(20, resolve));
}
