import { maxPorts, PortFrame } from '../../shared/contract/hostLink.ts';
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

type OpenWire = { deliver(text: string): void; end(): void };

/**
 * Turns ports that main hands over, and ports that main relays, into connections.
 *
 * @param post   sends a body to main.
 * @param serve  serves one connection until it closes.
 */
export function createPageWires(deps: { post: (body: PortFrame) => void; serve: (wire: Wire) => void; log: Logger }): PageWires {
  const wires = new Map<number, OpenWire>();

  function open(id: number, port: PortLike | null): void {
    // A number that is open already, or one too many, is a fault of main: it is told that this port is closed.
    if (wires.has(id) || wires.size >= maxPorts) {
      deps.log.warn('port.refused', { id, open: wires.size });
      port?.close();
      deps.post({ k: 'port.close', id });
      return;
    }
    const messages: ((message: unknown) => void)[] = [];
    const closes: (() => void)[] = [];
    const wire: OpenWire = {
      deliver(text) {
        for (const listener of messages) listener(text);
      },
      end() {
        if (wires.get(id) !== wire) return;
        wires.delete(id);
        for (const listener of closes) listener();
        port?.close();
      },
    };
    wires.set(id, wire);
    deps.serve({
      send(text) {
        if (wires.get(id) !== wire) return;
        if (port === null) deps.post({ k: 'port.data', id, data: text });
        else port.postMessage(text);
      },
      onMessage: (listener) => void messages.push(listener),
      onClose: (listener) => void closes.push(listener),
    });
    if (port === null) return;
    port.on('message', ({ data }) => {
      if (wires.get(id) === wire) for (const listener of messages) listener(data);
    });
    port.on('close', () => {
      if (wires.get(id) !== wire) return;
      wire.end();
      deps.post({ k: 'port.close', id });
    });
    port.start();
  }

  return {
    receive(body, port) {
      const frame = PortFrame.safeParse(body);
      if (!frame.success) return false;
      const { k, id } = frame.data;
      if (k === 'port') open(id, port);
      else if (k === 'port.close') wires.get(id)?.end();
      else wires.get(id)?.deliver(frame.data.data);
      return true;
    },
    close() {
      for (const wire of [...wires.values()]) wire.end();
    },
  };
}
