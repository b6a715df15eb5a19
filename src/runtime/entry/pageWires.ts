import { maxPorts, PortFrame, portData } from '../../shared/contract/hostLink.ts';
import { lineData, wholeBytes } from '../../shared/contract/lineData.ts';
import type { LineWire } from '../../shared/contract/voiceLine.ts';
import type { PortLike } from '../platform/electronStarter.ts';
import type { Logger } from '../platform/ports.ts';
import type { Wire } from '../procedures/serveConnection.ts';

/** The runtime's side of the pages' ports. */
export type PageWires = {
  /** A body of main; `false` if it is not about ports. */
  receive(body: unknown, port: PortLike | null): boolean;
  /** Ends every connection. */
  close(): void;
};

type OpenWire = { readonly purpose: PortOpening['purpose']; deliver(data: unknown): void; end(): void };
type PortOpening = Extract<PortFrame, { k: 'port' }>;

/**
 * Turns ports that main hands over, and ports that main relays, into connections and voice lines.
 *
 * @param post        sends a body to main.
 * @param serve       serves one connection until it closes.
 * @param serveVoice  the same for a voice line.
 */
export function createPageWires(deps: {
  post: (body: PortFrame) => void;
  serve: (wire: Wire) => void;
  serveVoice: (wire: LineWire) => void;
  log: Logger;
}): PageWires {
  const wires = new Map<number, OpenWire>();

  function open({ id, purpose }: PortOpening, port: PortLike | null): void {
    // A number that is open already, or one too many, is a fault of main: it is told that this port is closed.
    if (wires.has(id) || wires.size >= maxPorts) {
      deps.log.warn('port.refused', { id, open: wires.size });
      port?.close();
      deps.post({ k: 'port.close', id });
      return;
    }
    const messages: ((message: unknown) => void)[] = [];
    const closes: (() => void)[] = [];
    const isOpen = () => wires.get(id) === wire;
    const wire: OpenWire = {
      purpose,
      deliver(data) {
        for (const listener of messages) listener(data);
      },
      end() {
        if (!isOpen()) return;
        wires.delete(id);
        for (const listener of closes) listener();
        port?.close();
      },
    };
    wires.set(id, wire);
    const carrier = {
      send(data: string | Uint8Array<ArrayBuffer>) {
        if (!isOpen()) return;
        const whole = typeof data === 'string' ? data : wholeBytes(data);
        if (port === null) deps.post({ k: 'port.data', id, data: whole });
        else port.postMessage(whole);
      },
      onMessage: (listener: (message: unknown) => void) => void messages.push(listener),
      onClose: (listener: () => void) => void closes.push(listener),
    };
    /** From our side: main is told, and tells the page. */
    const cut = () => {
      if (!isOpen()) return;
      wire.end();
      deps.post({ k: 'port.close', id });
    };
    if (purpose === 'calls') deps.serve(carrier);
    else deps.serveVoice({ ...carrier, close: cut });
    if (port === null) return;
    port.on('message', ({ data }) => {
      if (!isOpen()) return;
      // What is no call, `serve` answers; a line has nobody to answer to.
      const message = purpose === 'calls' ? data : lineData('up', data);
      if (message !== null) return wire.deliver(message);
      deps.log.warn('port.refused', { id, open: wires.size });
      cut();
    });
    port.on('close', cut);
    port.start();
  }

  return {
    receive(body, port) {
      const frame = PortFrame.safeParse(body);
      if (!frame.success) return false;
      if (frame.data.k === 'port') {
        open(frame.data, port);
        return true;
      }
      const wire = wires.get(frame.data.id);
      if (frame.data.k === 'port.close') wire?.end();
      else if (wire !== undefined) {
        const data = portData(wire.purpose, 'up', frame.data.data);
        if (data !== null) wire.deliver(data);
      }
      return true;
    },
    close() {
      for (const wire of [...wires.values()]) wire.end();
    },
  };
}
