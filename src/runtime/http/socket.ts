import type { RawData, WebSocket } from 'ws';
import { lineData } from '../../shared/contract/lineData.ts';
import type { LineWire } from '../../shared/contract/voiceLine.ts';
import type { Clock } from '../../shared/util/clock.ts';
import type { Wire } from '../procedures/serveConnection.ts';
import type { Caller, Keys } from '../store/keys.ts';
import type { HttpLimits } from './limits.ts';
import type { Rpc } from './rpc.ts';

/**
 * Why we close. 4401: the key was revoked or the page's 12 h are over; the page then shows the sign-in form. 1008 and 1013 are a voice
 * line's: a message that is none; another page has the microphone, or nobody reads what is said.
 */
export const closeCodes = { shutdown: 1001, unsupported: 1003, badFrame: 1008, busy: 1013, signedOut: 4401 } as const;

export type Sockets = {
  readonly size: number;
  /** Calls. */
  add(socket: WebSocket, caller: Caller | null): void;
  /** A voice line: bytes and texts. */
  addLine(socket: WebSocket, caller: Caller | null): void;
  /** Closes the sockets of one key, or all; whoever does not answer the close in half a second is cut. */
  close(code: number, reason: string, keyId?: string): void;
  [Symbol.dispose](): void;
};

/**
 * Open WebSockets, each a wire of the router or a voice line; a heartbeat that notices readers who went away and callers who
 * are no longer allowed.
 *
 * @param serveVoice  serves one voice line until it closes.
 */
export function createSockets(deps: {
  rpc: Rpc;
  serveVoice: (wire: LineWire) => void;
  keys: Keys;
  clock: Clock;
  limits: HttpLimits;
}): Sockets {
  const { rpc, keys, clock, limits } = deps;
  const open = new Map<WebSocket, { caller: Caller | null; answered: boolean }>();
  let lines = 0;
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

  function watch(socket: WebSocket, caller: Caller | null): void {
    const state = { caller, answered: true };
    open.set(socket, state);
    socket.on('pong', () => {
      state.answered = true;
    });
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.terminate());
  }

  /** Messages of callers who are still allowed. */
  function listen(socket: WebSocket, caller: Caller | null, listener: (data: RawData, isBinary: boolean) => void): void {
    socket.on('message', (data, isBinary) => {
      if (socket.readyState !== socket.OPEN) return;
      if (caller !== null && !keys.use(caller.keyId)) shut(socket, closeCodes.signedOut, 'signed out');
      else listener(data, isBinary);
    });
  }

  return {
    get size() {
      return open.size;
    },
    add(socket, caller) {
      watch(socket, caller);
      const link: Wire = {
        send: (text) => socket.send(text),
        onClose: (listener) => void socket.on('close', listener),
        onMessage: (listener) =>
          listen(socket, caller, (data, isBinary) => {
            // Nothing that is called takes bytes; sound has lines of its own.
            if (isBinary) shut(socket, closeCodes.unsupported, 'text frames only');
            else listener(data.toString());
          }),
      };
      rpc.connect(link, { caller, isPage: caller?.kind !== 'key', room: () => roomIn(socket, clock, limits.socketBufferBytes) });
    },
    addLine(socket, caller) {
      watch(socket, caller);
      if (lines >= limits.lines) return shut(socket, closeCodes.busy, 'busy');
      lines += 1;
      socket.on('close', () => {
        lines -= 1;
      });
      deps.serveVoice({
        send(data) {
          if (socket.readyState !== socket.OPEN) return;
          socket.send(data);
          if (socket.bufferedAmount > limits.lineBufferBytes) shut(socket, closeCodes.busy, 'not read');
        },
        onClose: (listener) => void socket.on('close', listener),
        onMessage: (listener) =>
          listen(socket, caller, (data, isBinary) => {
            const message = lineData('up', isBinary ? data : data.toString());
            if (message === null) shut(socket, closeCodes.badFrame, 'bad frame');
            else listener(message);
          }),
        close(reason) {
          if (reason === 'bad') shut(socket, closeCodes.badFrame, 'bad frame');
          else if (reason === 'busy') shut(socket, closeCodes.busy, 'busy');
          else shut(socket, closeCodes.shutdown, 'over');
        },
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

/** Resolves when less than `bytes` wait to be sent, or the socket is gone. */
async function roomIn(socket: WebSocket, clock: Clock, bytes: number): Promise<void> {
  while (socket.bufferedAmount > bytes && socket.readyState === socket.OPEN)
    await new Promise<void>((resolve) => void clock.setTimer(20, resolve));
}
