import type { MessageChannelMain, MessagePortMain } from 'electron';
import { maxPorts, PortFrame, portData } from '../../shared/contract/hostLink.ts';
import type { ConnectOptions, ConnectReply, PortPurpose } from '../../shared/contract/pageLink.ts';
import { AppError, toAppError } from '../../shared/errors/appError.ts';
import type { Session } from '../../shared/supervision/supervisor.ts';
import type { Clock } from '../../shared/util/clock.ts';
import type { MainLog } from '../log.ts';
import type { RuntimeProcess } from './runtime.ts';

/** The page that asks for a port, as this file needs it. Telling a page that is gone does nothing. */
export type Page = {
  /** The same for each try of one page. */
  readonly key: string;
  givePort(number: string, port: MessagePortMain): void;
  tellClosed(number: string): void;
};

export type PagePorts = {
  /** Starts the runtime if need be and hands its port to the page. Never rejects. */
  connect(page: Page, number: string, options?: ConnectOptions): Promise<ConnectReply>;
  /** Resolves when no page holds a port any more, so that all they sent has come; or after `settleMs`. */
  settled(): Promise<void>;
};

/** A page that is gone says so within milliseconds; one that hangs is not waited for. */
const settleMs = 500;

type OpenPort = {
  readonly id: number;
  readonly page: Page;
  readonly number: string;
  readonly purpose: PortPurpose;
  readonly local: MessagePortMain | null;
};

/**
 * Gives each page a port to the runtime, and tells it when the runtime behind the port is gone.
 *
 * @param channel  makes the two ends of a port.
 */
export function createPagePorts(deps: {
  runtime: RuntimeProcess;
  channel: () => MessageChannelMain;
  clock: Clock;
  log: MainLog;
}): PagePorts {
  const { runtime, log } = deps;
  const { relay } = runtime;
  let lastId = 0;
  let current: Session | null = null;
  const open = new Map<number, OpenPort>();
  // Pages that were last told of a failure: when they ask again a person wants it, and the breaker does not count.
  const disappointed = new Set<string>();
  let emptied: (() => void) | null = null;

  function adopt(session: Session): void {
    if (current === session) return;
    current = session;
    session.onBody((body) => {
      const frame = PortFrame.safeParse(body);
      if (!frame.success || frame.data.k === 'port') return;
      const port = open.get(frame.data.id);
      if (port === undefined) return;
      if (frame.data.k === 'port.close') return drop(port, true);
      // Bytes are copied out of the channel's buffer, which holds what was meant for other ports too.
      const data = portData(port.purpose, 'down', frame.data.data);
      if (data !== null) port.local?.postMessage(data);
    });
    session.onEnd((error) => {
      log.warn('runtime.gone', { code: error.code, ports: open.size });
      current = null;
      for (const port of [...open.values()]) drop(port, true);
    });
  }

  function drop(port: OpenPort, tellPage: boolean): void {
    if (!open.delete(port.id)) return;
    if (open.size === 0) emptied?.();
    port.local?.close();
    if (tellPage) port.page.tellClosed(port.number);
  }

  function openPort(session: Session, page: Page, number: string, purpose: PortPurpose): void {
    lastId += 1;
    const id = lastId;
    const { port1, port2 } = deps.channel();
    const port: OpenPort = { id, page, number, purpose, local: relay ? port1 : null };
    open.set(id, port);
    if (relay) {
      session.post({ k: 'port', id, purpose });
      port1.on('message', (event: { data: unknown }) => {
        const data = portData(purpose, 'up', event.data);
        if (data === null) {
          log.warn('port.refused', { id });
          session.post({ k: 'port.close', id });
          drop(port, true);
          return;
        }
        session.post({ k: 'port.data', id, data });
      });
      // The page went away or was loaded anew.
      port1.on('close', () => {
        if (!open.has(id)) return;
        session.post({ k: 'port.close', id });
        drop(port, false);
      });
      port1.start();
    } else {
      session.post({ k: 'port', id, purpose }, [port1]);
    }
    page.givePort(number, port2);
  }

  return {
    async connect(page, number, { purpose = 'calls', damaged } = {}) {
      // A voice line is asked for by no person: it neither shuts the breaker nor counts as told.
      if (purpose === 'calls' && disappointed.delete(page.key)) runtime.forgive();
      try {
        const session = await runtime.session(damaged);
        adopt(session);
        // It may have ended while we waited for our turn.
        if (current !== session || open.size >= maxPorts) throw new AppError('RUNTIME_UNAVAILABLE');
        openPort(session, page, number, purpose);
        return { status: 'connected' };
      } catch (cause) {
        const error = toAppError(cause);
        if (purpose === 'calls' && disappointed.size < maxPorts) disappointed.add(page.key);
        log.warn('page.refused', { code: error.code });
        return { status: 'failed', error: error.toWire() };
      }
    },
    settled: () =>
      new Promise((resolve) => {
        if (open.size === 0) return resolve();
        emptied = resolve;
        deps.clock.setTimer(settleMs, resolve);
      }),
  };
}
