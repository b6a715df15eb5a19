import { describe, expect, it } from 'vitest';
import { newId } from '../../../src/shared/domain/ids.ts';
import { isAppError } from '../../../src/shared/errors/appError.ts';
import { gate } from '../../helpers/scriptedLanguageModel.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createKernelHarness, type KernelHarness } from './harness.ts';

const chat = (h: KernelHarness) => h.agent.sessions.start({ origin: 'app' }).session.id;
const failure = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (isAppError(error)) return { code: error.code, ...error.data };
    throw error;
  }
  return null;
};

describe('cancel', () => {
  it('CA-01: names a session and, if known, a turn; a wrong one is told which is active', async () => {
    verifies('CA-01');
    const open = gate();
    await using h = await createKernelHarness({ scripts: [{ gate: open }] });
    const id = chat(h);
    expect(failure(() => h.agent.turns.cancel({ sessionId: id }))).toEqual({ code: 'NO_ACTIVE_TURN' });
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
    expect(failure(() => h.agent.turns.cancel({ sessionId: id, turnId: newId('turn', 0) }))).toEqual({
      code: 'TURN_MISMATCH',
      activeTurnId: turnId,
    });
    expect(h.agent.turns.get(id, turnId).status).toBe('running');
    expect(h.agent.turns.cancel({ sessionId: id, turnId })).toEqual({ turnId, status: 'cancelling' });
    await h.settled(id, turnId);
    expect(failure(() => h.agent.turns.cancel({ sessionId: id }))).toEqual({ code: 'NO_ACTIVE_TURN' });
  });

  it('CA-02: the store says cancelling before the signal fires, and the reply does not wait for the end', async () => {
    verifies('CA-02');
    const open = gate();
    await using h = await createKernelHarness({ scripts: [{ gate: open }, { stall: true }] });
    const id = chat(h);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
    await open.reached;
    const signal = h.model.calls[0]?.abortSignal;
    let stored: string | undefined;
    signal?.addEventListener('abort', () => {
      expect(h.store.db.inTransaction).toBe(false);
      stored = h.agent.turns.get(id, turnId).status;
    });
    expect(h.agent.turns.cancel({ sessionId: id }).status).toBe('cancelling');
    expect(stored).toBe('cancelling');
    expect(h.agent.turns.get(id, turnId).completedAt).toBeNull();
    await h.settled(id, turnId);
    expect(h.agent.turns.get(id, turnId)).toMatchObject({ id: turnId, status: 'cancelled', result: { stop_reason: 'cancelled' } });
  });

  it('CA-05: what was said is kept and marked; cancelling twice is the same as once', async () => {
    verifies('CA-05');
    const open = gate();
    await using h = await createKernelHarness({ scripts: [{ say: 'Once upon a' }, { gate: open }, { endless: ' time' }] });
    const id = chat(h);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'a story' });
    await open.reached;
    expect(h.agent.turns.cancel({ sessionId: id, turnId }).status).toBe('cancelling');
    expect(h.agent.turns.cancel({ sessionId: id, turnId }).status).toBe('cancelling');
    await h.settled(id, turnId);
    expect(h.agent.turns.cancel({ sessionId: id, turnId })).toEqual({ turnId, status: 'cancelled' });
    expect(h.types(id).slice(-4)).toEqual(['turn.cancelling', 'output.message.completed', 'llm.generation', 'turn.cancelled']);
    expect(h.agent.turns.history({ sessionId: id, limit: 5 }).messages.at(-1)).toMatchObject({ text: 'Once upon a', interrupted: true });
    expect(h.agent.sessions.get(id)).toMatchObject({ status: 'idle', last_turn_status: 'cancelled' });
  });

  it('a turn that waits in the queue is cancelled at once, and its end in the log has a start', async () => {
    const gates = Array.from({ length: 4 }, gate);
    await using h = await createKernelHarness({ scripts: (_, call) => [{ gate: gates[call] ?? gate() }] });
    for (let n = 0; n < 4; n++) h.agent.turns.send({ sessionId: chat(h), content: 'x' });
    const id = chat(h);
    const { turnId, delivery } = h.agent.turns.send({ sessionId: id, content: 'waits' });
    expect(delivery).toBe('queued');
    expect(h.agent.turns.cancel({ sessionId: id })).toEqual({ turnId, status: 'cancelled' });
    expect(h.types(id)).toEqual(['session.started', 'input.message', 'turn.started', 'turn.cancelling', 'turn.cancelled']);
    for (const one of gates) one.open();
  });

  it('a model that does not stop is left behind after 5 s, and its late words are refused', async () => {
    await using h = await createKernelHarness();
    const open = gate();
    const deaf = {
      ...h.model,
      doStream: async () => {
        await open.pass();
        return h.model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'late' }] }] });
      },
    };
    await using other = await createKernelHarness({
      agent: {
        models: {
          current: () => deaf,
          unavailable: () => {
            throw new Error('unused');
          },
        },
      },
    });
    const session = chat(other);
    const { turnId } = other.agent.turns.send({ sessionId: session, content: 'x' });
    await open.reached;
    other.agent.turns.cancel({ sessionId: session });
    await other.clock.advanceAsync(4_999);
    expect(other.agent.turns.get(session, turnId).status).toBe('cancelling');
    await other.clock.advanceAsync(1);
    await other.settled(session, turnId);
    const before = other.types(session);
    open.open();
    for (let n = 0; n < 50; n++) await new Promise((resolve) => setImmediate(resolve));
    expect(other.types(session)).toEqual(before);
    expect(before.at(-1)).toBe('turn.cancelled');
  });
});
