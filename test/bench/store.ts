import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { createKernel } from '../../src/runtime/agent/kernel.ts';
import { createSessions } from '../../src/runtime/agent/sessions.ts';
import { createClock } from '../../src/runtime/platform/clock.ts';
import type { Lease, NewEvent } from '../../src/runtime/store/eventLog.ts';
import { migrations } from '../../src/runtime/store/migrations/index.ts';
import { openStore } from '../../src/runtime/store/open.ts';
import { newId, type SessionId, type TurnId } from '../../src/shared/domain/ids.ts';
import { timestamp } from '../../src/shared/domain/time.ts';
import { AppError } from '../../src/shared/errors/appError.ts';
import { type BenchRow, medianOf } from './report.ts';

/**
 * R19 of the performance page: our event log against bare better-sqlite3 on the same table with the same pragmas, both in the same
 * file and the same run. One round does both in turn; the ratio of each round is taken, and the median of the ratios is the figure.
 *
 * Both sides turn the same event data into JSON and commit batches of 100 with `synchronous=FULL`. Ours checks lease, generation, turn
 * bracket, schema and size, gives out ids and sequences, and keeps the projections (messages with their full text, usage, states).
 */
const batch = 100;
const batchesPerRound = 30;
const rounds = 15;
const replayEvents = 20_000;

type Side = () => number;

export async function bench(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sotto-bench-'));
  const clock = createClock();
  const log = { info() {}, warn() {}, error() {} };
  const paths = { data: folder, database: join(folder, 'sotto.db'), lock: join(folder, 'lock.db'), backups: join(folder, 'backups') };
  const store = await openStore({ paths, clock, log, migrations });
  try {
    const kernel = createKernel(
      { store, clock, log, models: { current: () => null, unavailable: () => new AppError('MODEL_NOT_INSTALLED', { modelId: 'none' }) } },
      new AbortController().signal,
    );
    const bare = bareAppender(store.db);
    const rows: BenchRow[] = [];
    for (const [id, what, make, goal] of [
      ['P28', 'event append, batch 100, FULL, all checks on', stepEvents, '≥ 0.5'],
      ['P28 messages', 'the same, every tenth event a message (projection and full text)', mixedEvents, ''],
    ] as const) {
      const { sessionId, turnId, lease } = openTurn(kernel);
      const ours: Side = () => timed(() => each(batchesPerRound, () => kernel.events.append(sessionId, make(turnId), { lease })));
      const theirs: Side = () => timed(() => each(batchesPerRound, () => bare.append(make(turnId))));
      rows.push(ratioRow(id, what, 'bare better-sqlite3, same table and pragmas', goal, ours, theirs));
    }
    const { sessionId, turnId, lease } = openTurn(kernel);
    const session = kernel.session(sessionId).no;
    for (let n = 0; n < replayEvents; n += batch) kernel.events.append(sessionId, mixedEvents(turnId), { lease });
    let seen = 0;
    const ours: Side = () =>
      timed(() =>
        kernel.events.replay(session, sessionId, (event) => {
          seen += event.sequence;
        }),
      );
    const theirs: Side = () =>
      timed(() => {
        for (const row of bare.rows(session)) seen += row.sequence + (JSON.parse(row.data) === null ? 1 : 0);
      });
    rows.push(ratioRow('P29', `replay of ${replayEvents} events to typed ones`, 'bare iterate() + JSON.parse', '≥ 0.6', ours, theirs));
    if (seen === 0) throw new Error('nothing was read');
    return rows;
  } finally {
    await store[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function openTurn(kernel: ReturnType<typeof createKernel>): { sessionId: SessionId; turnId: TurnId; lease: Lease } {
  const sessions = createSessions(kernel, {
    cancel() {
      throw new Error('nothing to cancel');
    },
  });
  const { id: sessionId } = sessions.start({ origin: 'app' }).session;
  const nowMs = kernel.clock.nowMs();
  const turnId = newId('turn', nowMs);
  const lease = { generation: kernel.store.generation, token: 'bench' };
  kernel.events.append(sessionId, [
    {
      type: 'input.message',
      turnId,
      data: {
        message: { id: newId('msg', nowMs), role: 'user', content: [{ type: 'text', text: 'What is the capital of Japan?' }] },
        delivery: 'started',
        source: 'text',
        idempotency_key: turnId,
      },
    },
  ]);
  kernel.store.write(() => {
    const turn = kernel.turns.get(turnId);
    if (turn === undefined) throw new Error('no turn');
    kernel.turns.takeLease(turn, lease, timestamp(nowMs));
    kernel.events.append(sessionId, [{ type: 'turn.started', data: { turn_id: turnId, attempt: 1, idempotency_key: turnId } }], { lease });
  });
  return { sessionId, turnId, lease };
}

const usage = {
  model: 'smollm2-135m-instruct-q4_1',
  promptTokens: 412,
  reusedTokens: 380,
  outputTokens: 57,
  firstTokenMs: 141.2,
  tokensPerSecond: 38.4,
  totalMs: 1_620.5,
  where: 'here',
} as const;

/** What a turn with tools writes most: steps and usage, about 220 bytes each (row d4 of the performance page). */
function stepEvents(turnId: TurnId): NewEvent[] {
  return Array.from(
    { length: batch },
    (_, n): NewEvent =>
      n % 2 === 0
        ? { type: 'llm.generation', turnId, data: { purpose: 'reply', usage } }
        : { type: 'reason.completed', turnId, data: { iteration: n, model: usage.model, context_tokens: 412 + n } },
  );
}

function mixedEvents(turnId: TurnId): NewEvent[] {
  const text = 'The meeting with Dana is on Thursday at 15:30 in room 4B, and the printed budget has to be brought along.';
  return stepEvents(turnId).map(
    (event, n): NewEvent =>
      n % 10 === 0
        ? {
            type: 'output.message.completed',
            turnId,
            data: { message: { id: newId('msg', 0), role: 'assistant', content: [{ type: 'text', text }] }, phase: 'commentary' },
          }
        : event,
  );
}

/** What one would write by hand: one prepared statement, one transaction per batch. */
function bareAppender(db: Database) {
  db.exec(`
    CREATE TABLE bare_events (session INTEGER NOT NULL, sequence INTEGER NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, ts TEXT NOT NULL,
      turn_id TEXT, message_id TEXT, data TEXT NOT NULL, PRIMARY KEY (session, sequence)) STRICT, WITHOUT ROWID`);
  const insert = db.prepare(
    'INSERT INTO bare_events (session, sequence, id, type, ts, turn_id, message_id, data) VALUES (1, ?, ?, ?, ?, ?, NULL, ?)',
  );
  const read = db.prepare<[number], { sequence: number; type: string; data: string }>(
    'SELECT sequence, id, type, ts, turn_id, message_id, data FROM events WHERE session = ? ORDER BY sequence',
  );
  const id = newId('event', 0);
  const ts = timestamp(0);
  let sequence = 0;
  return {
    append: db.transaction((events: readonly NewEvent[]) => {
      for (const event of events) insert.run((sequence += 1), id, event.type, ts, event.turnId, JSON.stringify(event.data));
    }),
    rows: (session: number) => read.iterate(session),
  };
}

function ratioRow(id: string, what: string, against: string, goal: string, ours: Side, theirs: Side): BenchRow {
  const ratios: number[] = [];
  for (let round = -2; round < rounds; round++) {
    // Each side goes first in every other round; the first two rounds only warm up.
    const first = round % 2 === 0 ? ours() : theirs();
    const second = round % 2 === 0 ? theirs() : ours();
    const [mine, bare] = round % 2 === 0 ? [first, second] : [second, first];
    if (round >= 0) ratios.push(bare / mine);
  }
  return {
    id,
    what,
    value: medianOf(ratios),
    unit: '× speed',
    against,
    goal,
    better: 'higher',
    runs: ratios.length,
    min: Math.min(...ratios),
    max: Math.max(...ratios),
  };
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function each(times: number, work: () => void): void {
  for (let n = 0; n < times; n++) work();
}
