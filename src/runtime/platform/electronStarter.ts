import { type EngineAsk, EngineNews } from '../../shared/supervision/electronEngine.ts';
import type { ProcessExit, ProcessStarter } from '../../shared/supervision/processStarter.ts';

/** The part of Electron's MessagePortMain that is used here. */
export type PortLike = {
  postMessage(message: unknown, transfer?: PortLike[]): void;
  on(event: 'message', listener: (event: { data: unknown; ports: PortLike[] }) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  start(): void;
  close(): void;
};

/** `process.parentPort` of a utilityProcess. */
export type ParentPortLike = {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (event: { data: unknown; ports: PortLike[] }) => void): unknown;
};

type Child = { started(pid: number | null, port: PortLike): void; exited(exit: ProcessExit): void };

/**
 * Engines of a runtime that is itself a utilityProcess: main forks them and hands over a port straight to each. Main says when a child
 * exits; what was posted before the port came is kept in order.
 */
export function createElectronStarter(parentPort: ParentPortLike): ProcessStarter {
  const children = new Map<number, Child>();
  let ids = 0;
  const ask = (message: EngineAsk) => parentPort.postMessage(message);
  parentPort.on('message', (event) => {
    // Main also sends other things here (ports of the page); they are not ours.
    const news = EngineNews.safeParse(event.data);
    if (!news.success) return;
    const child = children.get(news.data.id);
    const port = event.ports[0];
    if (news.data.k === 'engine.started') {
      if (child === undefined || port === undefined) port?.close();
      else child.started(news.data.pid, port);
    } else {
      children.delete(news.data.id);
      child?.exited({ code: news.data.code, signal: null });
    }
  });
  return {
    start(spec) {
      ids += 1;
      const id = ids;
      let pid: number | null = null;
      let port: PortLike | null = null;
      let exit: ProcessExit | null = null;
      const waiting: unknown[] = [];
      const messages = new Set<(message: unknown) => void>();
      const exits = new Set<(exit: ProcessExit) => void>();
      children.set(id, {
        started(childPid, childPort) {
          if (exit !== null) return childPort.close();
          pid = childPid;
          port = childPort;
          childPort.on('message', (event) => {
            if (exit !== null) return;
            for (const listener of messages) listener(event.data);
          });
          childPort.start();
          for (const message of waiting.splice(0)) childPort.postMessage(message);
        },
        exited(how) {
          exit = how;
          pid = null;
          port?.close();
          for (const listener of exits) listener(how);
        },
      });
      ask({ k: 'engine.start', id, spec: { name: spec.name, entry: 'engine', args: [...spec.args], env: { ...spec.env } } });
      return {
        pid: () => pid,
        post(message) {
          if (exit !== null) return;
          if (port === null) waiting.push(message);
          else port.postMessage(message);
        },
        onMessage(listener) {
          messages.add(listener);
        },
        onExit(listener) {
          if (exit === null) exits.add(listener);
          else listener(exit);
        },
        kill() {
          if (exit === null) ask({ k: 'engine.kill', id });
        },
      };
    },
  };
}
