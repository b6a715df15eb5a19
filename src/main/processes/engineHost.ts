import { MessageChannelMain } from 'electron';
import { EngineAsk, type EngineNews } from '../../shared/supervision/electronEngine.ts';
import type { ProcessLink, ProcessStarter } from '../../shared/supervision/processStarter.ts';
import type { Session } from '../../shared/supervision/supervisor.ts';
import type { MainLog } from '../log.ts';

/** More engines at once than the product will ever have. */
const maxEngines = 16;

/**
 * Forks engines for a runtime that lives in a utilityProcess, and hands it a port straight to each. Engines belong to the session: when
 * it ends they are killed, since the runtime that steered them is gone.
 */
export function serveEngines(session: Session, starter: ProcessStarter, log: MainLog): void {
  const engines = new Map<number, ProcessLink>();
  const tell = (news: EngineNews, ports: readonly unknown[] = []) => session.post(news, ports);

  session.onBody((body) => {
    const ask = EngineAsk.safeParse(body);
    if (!ask.success) return;
    const { k, id } = ask.data;
    if (k === 'engine.kill') {
      engines.get(id)?.kill();
      return;
    }
    if (engines.has(id) || engines.size >= maxEngines) {
      log.warn('engine.refused', { id, running: engines.size });
      tell({ k: 'engine.exit', id, code: null });
      return;
    }
    const engine = starter.start(ask.data.spec);
    engines.set(id, engine);
    const { port1, port2 } = new MessageChannelMain();
    engine.onExit(({ code }) => {
      engines.delete(id);
      tell({ k: 'engine.exit', id, code });
    });
    engine.post({ k: 'port' }, [port1]);
    tell({ k: 'engine.started', id, pid: engine.pid() }, [port2]);
  });
  session.onEnd(() => {
    for (const engine of engines.values()) engine.kill();
  });
}
