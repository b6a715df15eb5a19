import { lineData } from '../../../shared/contract/lineData.ts';
import { type LineDown, type LineUp, type LineWire, parseLineUp } from '../../../shared/contract/voiceLine.ts';
import type { AudioFrame } from '../../../shared/domain/audio.ts';
import { AppError } from '../../../shared/errors/appError.ts';
import { decodeFrame } from '../../../shared/util/audioWire.ts';
import type { Logger } from '../../platform/ports.ts';

/** More pages than anybody opens; what comes beyond is turned away. */
const maxLines = 16;

/** The voice lines of all pages: who is there, and which of them has the microphone. */
export type Lines = {
  /** Serves a line until it closes. */
  connect(wire: LineWire): void;
  has(id: string): boolean;
  owner(): string | null;
  own(id: string | null): void;
  /** To the page that has the microphone; without one it goes nowhere. */
  send(down: LineDown): void;
  sendBytes(bytes: Uint8Array<ArrayBuffer>): void;
  close(): void;
};

/**
 * @param on.up     a message of a line, parsed.
 * @param on.frame  sound of a line, decoded.
 * @param on.gone   the line is closed.
 */
export function createLines(deps: {
  log: Logger;
  on: { up(id: string, up: LineUp): void; frame(id: string, frame: AudioFrame): void; gone(id: string): void };
}): Lines {
  const { log, on } = deps;
  const wires = new Map<string, LineWire>();
  let owner: string | null = null;
  let closed = false;

  const drop = (id: string) => {
    if (wires.delete(id)) on.gone(id);
  };
  const write = (data: string | Uint8Array<ArrayBuffer>) => {
    if (owner !== null) wires.get(owner)?.send(data);
  };
  return {
    connect(wire) {
      if (closed || wires.size >= maxLines) return wire.close(closed ? 'over' : 'busy');
      // Whoever knows the id may take the microphone for that page: it is not to be guessed.
      const id = `line_${crypto.randomUUID()}`;
      wires.set(id, wire);
      wire.onClose(() => drop(id));
      wire.onMessage((data) => {
        if (!wires.has(id)) return;
        let message: { up: LineUp } | { frame: AudioFrame };
        try {
          message = parsed(data);
        } catch {
          log.warn('voice.bad_message', { kind: typeof data });
          wire.close('bad');
          return drop(id);
        }
        if ('up' in message) on.up(id, message.up);
        else on.frame(id, message.frame);
      });
      wire.send(JSON.stringify({ t: 'line', id } satisfies LineDown));
    },
    has: (id) => wires.has(id),
    owner: () => owner,
    own(id) {
      owner = id;
    },
    send: (down) => write(JSON.stringify(down)),
    sendBytes: write,
    close() {
      closed = true;
      for (const [id, wire] of [...wires]) {
        wire.close('over');
        drop(id);
      }
    },
  };
}

/** @throws AppError INVALID_INPUT, INVALID_AUDIO. */
function parsed(data: unknown): { up: LineUp } | { frame: AudioFrame } {
  const message = lineData('up', data);
  if (message === null) throw new AppError('INVALID_INPUT', { field: 'line', reason: 'type' });
  return typeof message === 'string' ? { up: parseLineUp(message) } : { frame: decodeFrame(message) };
}
