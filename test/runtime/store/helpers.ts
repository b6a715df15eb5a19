import { rmSync } from 'node:fs';
import { assistantId, ensureAssistant } from '../../../src/runtime/agent/assistant.ts';
import { createAgentRows } from '../../../src/runtime/store/agentRows.ts';
import { createEventLog, type EventLog, type Lease, type NewEvent } from '../../../src/runtime/store/eventLog.ts';
import { migrations } from '../../../src/runtime/store/migrations/index.ts';
import { openStore, type Store, type StoreDeps } from '../../../src/runtime/store/open.ts';
import { createSessionRows, type SessionRows } from '../../../src/runtime/store/sessionRows.ts';
import { createTurnRows, type TurnRows } from '../../../src/runtime/store/turnRows.ts';
import { newId, SessionId, type TurnId } from '../../../src/shared/domain/ids.ts';
import { timestamp } from '../../../src/shared/domain/time.ts';
import { createFakeClock, type FakeClock } from '../../helpers/fakeClock.ts';
import { silent, tempPaths } from '../agent/harness.ts';

export type LogHarness = {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly log: EventLog;
  readonly sessions: SessionRows;
  readonly turns: TurnRows;
  readonly paths: ReturnType<typeof tempPaths>;
  /** A stored session with its first event. */
  session(id?: string): SessionId;
  /** A turn with its input; `started` takes a lease as well. */
  turn(sessionId: SessionId, text?: string, retryOf?: TurnId): { turnId: TurnId; lease: Lease };
  start(sessionId: SessionId, turnId: TurnId, lease: Lease): void;
  no(sessionId: SessionId): number;
  [Symbol.asyncDispose](): Promise<void>;
};

export const open = (paths: ReturnType<typeof tempPaths>, more: Partial<StoreDeps> = {}): Promise<Store> =>
  openStore({ paths, clock: createFakeClock(), log: silent, migrations, ...more });

/** The real log over a real file, without the kernel above it. */
export async function createLogHarness(): Promise<LogHarness> {
  const paths = tempPaths();
  const clock = createFakeClock();
  const store = await openStore({ paths, clock, log: silent, migrations });
  const log = createEventLog(store, clock);
  const sessions = createSessionRows(store.db);
  const turns = createTurnRows(store.db);
  const agents = createAgentRows(store.db);
  let count = 0;
  const no = (id: SessionId) => sessions.get(id)?.no ?? -1;
  return {
    store,
    clock,
    log,
    sessions,
    turns,
    paths,
    no,
    session(id = `chat-${(count += 1)}`) {
      const sessionId = SessionId.parse(id);
      store.write(() => {
        const revision = ensureAssistant(agents, clock);
        sessions.insert({
          id: sessionId,
          agent_id: assistantId,
          revision_id: revision.id,
          revision: revision.revision,
          origin: 'app',
          metadata: '{}',
          start_digest: '',
          created_at: timestamp(clock.nowMs()),
        });
        log.append(sessionId, [
          {
            type: 'session.started',
            data: { agent_id: assistantId, revision_id: revision.id, revision: revision.revision, origin: 'app' },
          },
        ]);
      });
      return sessionId;
    },
    turn(sessionId, text = 'What is the capital of Japan?', retryOf) {
      const turnId = newId('turn', clock.nowMs());
      const lease = { generation: store.generation, token: `token-${turnId}` };
      log.append(sessionId, [input(turnId, text, retryOf)]);
      return { turnId, lease };
    },
    start(sessionId, turnId, lease) {
      store.write(() => {
        const row = turns.get(turnId);
        if (row === undefined) throw new Error('no such turn');
        turns.takeLease(row, lease, timestamp(clock.nowMs()));
        log.append(sessionId, [{ type: 'turn.started', data: { turn_id: turnId, attempt: 1, idempotency_key: turnId } }], { lease });
      });
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      rmSync(paths.data, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export function input(turnId: TurnId, text: string, retryOf?: TurnId): NewEvent {
  return {
    type: 'input.message',
    turnId,
    data: {
      message: { id: newId('msg', 0), role: 'user', content: [{ type: 'text', text }] },
      delivery: 'started',
      source: 'text',
      idempotency_key: turnId,
      ...(retryOf === undefined ? {} : { retry_of: retryOf }),
    },
  };
}

export function reply(turnId: TurnId, text: string): NewEvent {
  return {
    type: 'output.message.completed',
    turnId,
    data: { message: { id: newId('msg', 0), role: 'assistant', content: [{ type: 'text', text }] }, phase: 'final' },
  };
}

export const completed = (turnId: TurnId): NewEvent => ({ type: 'turn.completed', data: { turn_id: turnId, stop_reason: 'end' } });

export const reasoned = (turnId: TurnId): NewEvent => ({
  type: 'reason.started',
  turnId,
  data: { iteration: 1, model: 'm', context_tokens: 12 },
});
