import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { DurableEvent } from '../../../src/shared/domain/events.ts';
import { SessionId, type TurnId } from '../../../src/shared/domain/ids.ts';
import { isAppError } from '../../../src/shared/errors/appError.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createKernelHarness, type KernelHarness } from './harness.ts';

type Step =
  | { do: 'send'; chat: number; key: number }
  | { do: 'retry' | 'cancel' | 'resume' | 'stop' | 'trash' | 'restore'; chat: number }
  | { do: 'crash'; downMs: number }
  | { do: 'quit' }
  | { do: 'wait'; rounds: number }
  | { do: 'time'; ms: number };

const chatNumber = fc.nat({ max: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('send' as const), chat: chatNumber, key: fc.nat({ max: 5 }) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('retry', 'cancel', 'resume', 'stop', 'trash', 'restore'), chat: chatNumber }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const), downMs: fc.constantFrom(0, 1_000, 20 * 60_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('quit' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), rounds: fc.nat({ max: 30 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('time' as const), ms: fc.constantFrom(50, 1_500, 6_000) }) },
);
/** Errors that a caller may get for a step that does not fit the moment; anything else is a bug. */
const expected = new Set([
  'TURN_ACTIVE',
  'NO_ACTIVE_TURN',
  'TURN_MISMATCH',
  'SESSION_NOT_FOUND',
  'IDEMPOTENCY_KEY_REUSED',
  'SHUTTING_DOWN',
]);
const ends = ['turn.completed', 'turn.failed', 'turn.cancelled'];

function check(log: readonly DurableEvent[], accepted: ReadonlyMap<TurnId, string>, finished: boolean): void {
  expect(log.map((event) => event.sequence)).toEqual(log.map((_, index) => index + 1));
  for (const [turnId, text] of accepted) {
    const mine = log.filter((event) => event.context.turn_id === turnId);
    // No accepted message is lost, nor stored twice, nor changed.
    const inputs = mine.filter((event) => event.type === 'input.message');
    expect(inputs.map((event) => JSON.stringify(event.data).includes(JSON.stringify(text)))).toEqual([true]);
    const started = mine.filter((event) => event.type === 'turn.started').length;
    const ended = mine.filter((event) => ends.includes(event.type)).length;
    expect(started).toBeLessThanOrEqual(1);
    expect(ended).toBeLessThanOrEqual(started);
    if (finished) expect([started, ended]).toEqual([1, 1]);
    if (ended === 1) expect(ends).toContain(mine.at(-1)?.type);
  }
}

async function play(h: KernelHarness, steps: readonly Step[]): Promise<void> {
  const chats = ['a', 'b', 'c'].map((id) => SessionId.parse(id));
  for (const sessionId of chats) h.agent.sessions.start({ origin: 'app', sessionId });
  const accepted = new Map<SessionId, Map<TurnId, string>>(chats.map((id) => [id, new Map()]));
  const newest = new Map<SessionId, TurnId>();
  let count = 0;
  const attempt = (work: () => void) => {
    try {
      work();
    } catch (error) {
      if (!isAppError(error) || !expected.has(error.code)) throw error;
    }
  };
  const restart = async () => {
    await h.crash();
    h.agent.recover();
  };
  for (const one of steps) {
    const sessionId = 'chat' in one ? (chats[one.chat] as SessionId) : (chats[0] as SessionId);
    const turnId = newest.get(sessionId);
    if (one.do === 'send')
      attempt(() => {
        const text = `message ${(count += 1)}`;
        const receipt = h.agent.turns.send({
          sessionId,
          content: text,
          ...(one.key === 0 ? {} : { idempotencyKey: `key ${one.key} ${text}` }),
        });
        accepted.get(sessionId)?.set(receipt.turnId, text);
        newest.set(sessionId, receipt.turnId);
      });
    else if (one.do === 'retry' && turnId !== undefined)
      attempt(() => {
        const text = accepted.get(sessionId)?.get(turnId) ?? '';
        const receipt = h.agent.turns.retry({ sessionId, turnId });
        accepted.get(sessionId)?.set(receipt.turnId, text);
        newest.set(sessionId, receipt.turnId);
      });
    else if (one.do === 'cancel') attempt(() => void h.agent.turns.cancel({ sessionId }));
    else if ((one.do === 'resume' || one.do === 'stop') && turnId !== undefined)
      attempt(() => void h.agent.turns.decide({ sessionId, turnId, choice: one.do === 'resume' ? 'resume' : 'stop' }));
    else if (one.do === 'trash') attempt(() => void h.agent.sessions.trash(sessionId));
    else if (one.do === 'restore') attempt(() => void h.agent.sessions.restore(sessionId));
    else if (one.do === 'crash') {
      await h.crash();
      h.clock.advance(one.downMs);
      h.agent.recover();
    } else if (one.do === 'quit') {
      const quit = h.agent[Symbol.asyncDispose]();
      await h.clock.advanceAsync(5_000);
      await quit;
      await restart();
    } else if (one.do === 'wait') for (let n = 0; n < one.rounds; n++) await new Promise((resolve) => setImmediate(resolve));
    else if (one.do === 'time') await h.clock.advanceAsync(one.ms);
    for (const id of chats) check(h.log(id), accepted.get(id) ?? new Map(), false);
  }
  // In the end everything can be settled: what waits is stopped, what runs comes to its end.
  for (const id of chats) {
    const open = h.store.db
      .prepare('SELECT id, waiting_on FROM turns WHERE session = (SELECT no FROM sessions WHERE id = ?) AND completed_at IS NULL')
      .get(id);
    const row = open as { id: TurnId; waiting_on: string | null } | undefined;
    if (row?.waiting_on != null) h.agent.turns.decide({ sessionId: id, turnId: row.id, choice: 'stop' });
  }
  for (const id of chats) for (const turn of accepted.get(id)?.keys() ?? []) await h.settled(id, turn);
  for (const id of chats) {
    check(h.log(id), accepted.get(id) ?? new Map(), true);
    const before = h.store.db
      .prepare('SELECT * FROM turns WHERE session = (SELECT no FROM sessions WHERE id = ?) ORDER BY input_sequence')
      .all(id);
    expect(before.length).toBe(accepted.get(id)?.size);
  }
  expect(h.store.db.prepare('SELECT count(*) FROM leases').pluck().get()).toBe(0);
  expect(h.store.db.prepare('SELECT count(*) FROM partials').pluck().get()).toBe(0);
  expect(h.store.db.pragma('integrity_check', { simple: true })).toBe('ok');
}

it('any order of sending, cancelling, crashing and recovering loses no accepted message and ends every started turn once', {
  timeout: 120_000,
}, async () => {
  verifies('EV-05', 'TU-04', 'RE-02', 'RE-09');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 18 }), async (steps) => {
      await using h = await createKernelHarness({
        scripts: (_, call) => [
          { say: `answer number ${call} in several words` },
          ...(call % 5 === 3 ? [{ fail: new Error('model fault') }] : []),
        ],
      });
      await play(h, steps);
    }),
    { numRuns: 40 },
  );
});
