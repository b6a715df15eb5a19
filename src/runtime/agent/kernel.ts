import type { SessionId } from '../../shared/domain/ids.ts';
import { AppError } from '../../shared/errors/appError.ts';
import { type AgentRows, createAgentRows } from '../store/agentRows.ts';
import { createEventLog, type EventLog } from '../store/eventLog.ts';
import { isStoreFault } from '../store/guard.ts';
import type { Store } from '../store/open.ts';
import { createSessionRows, type SessionRow, type SessionRows } from '../store/sessionRows.ts';
import { createTurnRows, type TurnRows } from '../store/turnRows.ts';
import { createHub, type Hub } from './hub.ts';
import type { AgentDeps, Clock, Logger, ModelSource, SamplingChoice } from './ports.ts';

/** What all parts of the kernel share; made once by `createAgent`. */
export type Kernel = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly models: ModelSource;
  readonly sampling: SamplingChoice;
  readonly localTime: (ms: number) => string;
  readonly events: EventLog;
  readonly agents: AgentRows;
  readonly sessions: SessionRows;
  readonly turns: TurnRows;
  readonly hub: Hub;
  /** Aborts at quit. */
  readonly closing: AbortSignal;
  /** @throws AppError SESSION_NOT_FOUND */
  session(id: SessionId): SessionRow;
  /** Writes once per damaged event that the transcript goes on without it (EV-12). */
  noteDamage(sessionId: SessionId, sequences: readonly number[]): void;
};

export function createKernel(deps: AgentDeps, closing: AbortSignal): Kernel {
  const { store, clock, log } = deps;
  const events = createEventLog(store, clock);
  const sessions = createSessionRows(store.db);
  const hub = createHub();
  events.onCommitted((sessionId, committed) => hub.durable(sessionId, committed));
  const repairs = store.db
    .prepare<[number], string>("SELECT data FROM events WHERE session = ? AND type = 'transcript.repaired' AND json_valid(data)")
    .pluck();

  function session(id: SessionId): SessionRow {
    const row = store.read(() => sessions.get(id));
    if (row === undefined) throw new AppError('SESSION_NOT_FOUND');
    return row;
  }

  return {
    store,
    clock,
    log,
    models: deps.models,
    sampling: deps.sampling ?? {},
    localTime: deps.localTime ?? localTime,
    events,
    agents: createAgentRows(store.db),
    sessions,
    turns: createTurnRows(store.db),
    hub,
    closing,
    session,
    noteDamage(sessionId, sequences) {
      if (sequences.length === 0 || store.state.get().state !== 'ok') return;
      const { no } = session(sessionId);
      const known = new Set(
        store.read(() => repairs.all(no)).flatMap((data) => (JSON.parse(data) as { skipped?: number[] }).skipped ?? []),
      );
      const skipped = sequences.filter((sequence) => !known.has(sequence));
      if (skipped.length === 0) return;
      log.warn('agent.transcriptRepaired', { events: skipped.length });
      try {
        events.append(sessionId, [{ type: 'transcript.repaired', data: { skipped } }]);
      } catch (error) {
        // Reading goes on while the store cannot write; the next reader notes it.
        if (!isStoreFault(error)) throw error;
      }
    },
  };
}

const words = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});

function localTime(ms: number): string {
  return words.format(ms);
}
