import { describe, expect, it } from 'vitest';
import type { SessionId } from '../../../src/shared/domain/ids.ts';
import { isAppError } from '../../../src/shared/errors/appError.ts';
import { gate } from '../../helpers/scriptedLanguageModel.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createKernelHarness, type KernelHarness } from './harness.ts';

const minutes = 60_000;
const chat = (h: KernelHarness) => h.agent.sessions.start({ origin: 'app', title: 'Named' }).session.id;

/** A turn whose runtime died while it was thinking; `said` was on the screen for longer than a second. */
async function interrupted(h: KernelHarness, id: SessionId, said = '') {
  const open = gate();
  h.model.play([...(said === '' ? [] : [{ say: said }]), { gate: open }, { stall: true }]);
  const { turnId } = h.agent.turns.send({ sessionId: id, content: 'What is the capital of Japan?' });
  await open.reached;
  await h.clock.advanceAsync(1_100);
  await h.crash();
  return turnId;
}

describe('recovery', () => {
  it('RE-02: a young interrupted turn goes on by itself under its own id, one attempt later', async () => {
    verifies('RE-02', 'LE-02');
    await using h = await createKernelHarness();
    const id = chat(h);
    const turnId = await interrupted(h, id, 'To');
    h.clock.advance(5 * minutes);
    h.model.play([{ say: 'Tokyo.' }]);
    expect(h.agent.recover()).toEqual({ resumed: 1, waiting: 0, cancelled: 0, queued: 0, sealed: 0 });
    await h.settled(id, turnId);
    expect(h.agent.turns.get(id, turnId)).toMatchObject({ id: turnId, status: 'completed', attempt: 2 });
    expect(h.types(id)).toEqual([
      'session.started',
      'input.message',
      'turn.started',
      'reason.started',
      'turn.interrupted',
      'turn.resumed',
      'reason.started',
      'reason.completed',
      'output.message.completed',
      'llm.generation',
      'turn.completed',
    ]);
    expect(h.log(id)[5]?.data).toEqual({ turn_id: turnId, rerun: [], not_rerun: [] });
    // The dead attempt's half answer is not in the transcript twice: the turn answered anew.
    expect(h.agent.turns.history({ sessionId: id, limit: 9 }).messages.map((message) => message.text)).toEqual([
      'What is the capital of Japan?',
      'Tokyo.',
    ]);
  });

  it('RE-02: after 15 minutes it waits for a decision, and what had been shown is in the transcript', async () => {
    verifies('RE-02');
    await using h = await createKernelHarness();
    const id = chat(h);
    const turnId = await interrupted(h, id, 'Tokyo is');
    h.clock.advance(15 * minutes);
    const calls = h.model.calls.length;
    expect(h.agent.recover()).toMatchObject({ waiting: 1, resumed: 0 });
    expect(h.agent.turns.get(id, turnId)).toMatchObject({ status: 'running', waitingOn: 'needs_reconciliation' });
    expect(h.agent.sessions.get(id).status).toBe('waitingforinput');
    expect(h.agent.turns.history({ sessionId: id, limit: 9 }).messages.at(-1)).toMatchObject({ text: 'Tokyo is', interrupted: true });
    expect(h.model.calls).toHaveLength(calls);
    // Another restart changes nothing: it still waits, and nothing is said twice.
    const before = h.types(id);
    await h.crash();
    expect(h.agent.recover()).toMatchObject({ waiting: 1 });
    expect(h.types(id)).toEqual(before);
    h.model.play([{ say: 'Tokyo.' }]);
    expect(h.agent.turns.decide({ sessionId: id, turnId, choice: 'resume' })).toMatchObject({ attempt: 2, waitingOn: null });
    await h.settled(id, turnId);
    expect(h.agent.turns.history({ sessionId: id, limit: 9 }).messages.map((message) => message.text)).toEqual([
      'What is the capital of Japan?',
      'Tokyo.',
    ]);
    expect(h.types(id)).toContain('output.message.replaced');
  });

  it('stop ends a waiting turn as cancelled and keeps what was said; deciding twice is refused', async () => {
    await using h = await createKernelHarness();
    const id = chat(h);
    const turnId = await interrupted(h, id, 'Tokyo is');
    h.clock.advance(60 * minutes);
    h.agent.recover();
    expect(h.agent.turns.decide({ sessionId: id, turnId, choice: 'stop' })).toMatchObject({ status: 'cancelled', waitingOn: null });
    expect(h.agent.turns.history({ sessionId: id, limit: 9 }).messages.at(-1)).toMatchObject({ text: 'Tokyo is', interrupted: true });
    expect(() => h.agent.turns.decide({ sessionId: id, turnId, choice: 'resume' })).toThrow('TURN_MISMATCH');
    expect(h.agent.sessions.get(id).status).toBe('idle');
  });

  it('RE-05: a message to a session with a waiting turn settles that turn as INTERRUPTED and starts its own', async () => {
    verifies('RE-05');
    await using h = await createKernelHarness();
    const id = chat(h);
    const turnId = await interrupted(h, id);
    h.clock.advance(60 * minutes);
    h.agent.recover();
    h.model.play([{ say: 'Fresh.' }]);
    const calls = h.model.calls.length;
    const next = h.agent.turns.send({ sessionId: id, content: 'Never mind. Hello!' });
    await h.settled(id, next.turnId);
    expect(h.agent.turns.get(id, turnId)).toMatchObject({ status: 'failed', error: { code: 'INTERRUPTED' }, attempt: 1 });
    expect(h.agent.turns.get(id, next.turnId).status).toBe('completed');
    expect(h.model.calls).toHaveLength(calls + 1);
    const types = h.types(id);
    expect(types.indexOf('turn.failed')).toBeLessThan(types.lastIndexOf('input.message'));
  });

  it('RE-06: a turn that is resumed again and again without getting anywhere is sealed', async () => {
    await using h = await createKernelHarness();
    const id = chat(h);
    const turnId = await interrupted(h, id);
    const outcomes: string[] = [];
    for (let round = 0; round < 4; round++) {
      const found = h.agent.recover();
      outcomes.push(Object.entries(found).find(([, count]) => count > 0)?.[0] ?? 'none');
      if (found.waiting > 0) h.agent.turns.decide({ sessionId: id, turnId, choice: 'resume' });
      for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
      await h.crash();
    }
    expect(outcomes).toEqual(['resumed', 'resumed', 'waiting', 'sealed']);
    expect(h.agent.turns.get(id, turnId)).toMatchObject({ status: 'failed', error: { code: 'INTERRUPTED' } });
    expect(h.types(id).slice(-2)).toEqual(['turn.sealed', 'turn.failed']);
    expect(h.agent.sessions.get(id).status).toBe('idle');
  });

  it('RE-09: a cancelling turn becomes cancelled with what was said; queued turns start again in order', async () => {
    verifies('RE-09');
    const gates = Array.from({ length: 4 }, gate);
    await using h = await createKernelHarness();
    h.model.play((_, call) => [{ say: 'Some words' }, { gate: gates[call] ?? gate() }, { stall: true }]);
    const sent = Array.from({ length: 6 }, (_, n) => {
      const id = chat(h);
      h.clock.advance(1);
      return { id, ...h.agent.turns.send({ sessionId: id, content: `number ${n}` }) };
    });
    await Promise.all(gates.map((one) => one.reached));
    await h.clock.advanceAsync(1_100);
    const first = sent[0];
    if (first === undefined) throw new Error('nothing sent');
    // Dies between the store's word and the signal's effect.
    h.store.write(() => h.agent.turns.cancel({ sessionId: first.id }));
    await h.crash();
    const order: string[] = [];
    h.model.play((prompt) => {
      order.push(/number (\d)/.exec(JSON.stringify(prompt.at(-1)))?.[1] ?? '?');
      return [{ say: 'done' }];
    });
    expect(h.agent.recover()).toEqual({ resumed: 3, waiting: 0, cancelled: 1, queued: 2, sealed: 0 });
    for (const { id, turnId } of sent) await h.settled(id, turnId);
    expect(sent.map(({ id, turnId }) => h.agent.turns.get(id, turnId).status)).toEqual([
      'cancelled',
      ...Array<string>(5).fill('completed'),
    ]);
    expect(order.slice(-2)).toEqual(['4', '5']);
    expect(h.agent.turns.history({ sessionId: first.id, limit: 5 }).messages.at(-1)).toMatchObject({
      text: 'Some words',
      interrupted: true,
    });
  });

  it('RE-09: an orderly quit stops the model and leaves the turn interrupted, not cancelled', async () => {
    verifies('RE-09');
    const open = gate();
    await using h = await createKernelHarness({ scripts: [{ say: 'Tokyo is the' }, { gate: open }, { stall: true }] });
    const id = chat(h);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
    await open.reached;
    const quit = h.agent[Symbol.asyncDispose]();
    expect(() => h.agent.turns.send({ sessionId: id, content: 'late', idempotencyKey: 'late' })).toThrow('SHUTTING_DOWN');
    await quit;
    expect(h.model.calls[0]?.abortSignal?.aborted).toBe(true);
    expect(h.agent.turns.get(id, turnId)).toMatchObject({ status: 'running', completedAt: null });
    await h.crash();
    h.clock.advance(60 * minutes);
    expect(h.agent.recover()).toMatchObject({ waiting: 1 });
    // Also what was said in the last second before the quit.
    expect(h.agent.turns.history({ sessionId: id, limit: 5 }).messages.at(-1)).toMatchObject({ text: 'Tokyo is the', interrupted: true });
  });

  it('RE-09: a model that ignores the quit holds it for 5 s and no longer', async () => {
    verifies('RE-09');
    const open = gate();
    const deaf = gate();
    await using h = await createKernelHarness();
    const model = {
      ...h.model,
      doStream: async () => {
        open.open();
        await deaf.pass();
        throw new Error('too late');
      },
    };
    await using other = await createKernelHarness({
      agent: {
        models: {
          current: () => model,
          unavailable: () => {
            throw new Error('unused');
          },
        },
      },
    });
    other.agent.turns.send({ sessionId: chat(other), content: 'x' });
    await deaf.reached;
    let ended = false;
    const quit = other.agent[Symbol.asyncDispose]().then(() => {
      ended = true;
    });
    await other.clock.advanceAsync(4_999);
    expect(ended).toBe(false);
    await other.clock.advanceAsync(1);
    await quit;
    expect(ended).toBe(true);
    deaf.open();
  });

  it('LE-02: the writer of a dead generation stops at its next append', async () => {
    verifies('LE-02', 'LE-01');
    const open = gate();
    await using h = await createKernelHarness({ scripts: [{ say: 'old words' }, { gate: open }] });
    const id = chat(h);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
    await open.reached;
    // Another runtime took the folder while this process slept; its lease is gone though its connection works.
    h.store.db.exec('UPDATE runtime SET generation = generation + 1');
    open.open();
    for (let n = 0; n < 50; n++) await new Promise((resolve) => setImmediate(resolve));
    expect(h.types(id)).not.toContain('turn.completed');
    expect(h.agent.turns.get(id, turnId).status).toBe('running');
  });

  it('LE-01: a lease is held from start to end, and an idle session has none', async () => {
    verifies('LE-01');
    const open = gate();
    await using h = await createKernelHarness({ scripts: [{ gate: open }, { say: 'x' }] });
    const leases = () => h.store.db.prepare('SELECT turn_id FROM leases').pluck().all();
    const id = chat(h);
    expect(leases()).toEqual([]);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
    expect(leases()).toEqual([turnId]);
    open.open();
    await h.settled(id, turnId);
    expect(leases()).toEqual([]);
    const waiting = await interrupted(h, id);
    h.clock.advance(60 * minutes);
    h.agent.recover();
    expect(leases()).toEqual([waiting]);
  });

  it('recovers later when the disk is full at start, and meanwhile everything can be read', async () => {
    await using h = await createKernelHarness();
    const id = chat(h);
    const turnId = await interrupted(h, id);
    h.store.db.pragma('query_only = ON');
    h.model.play([{ say: 'Tokyo.' }]);
    expect(h.agent.recover()).toEqual({ resumed: 0, waiting: 0, cancelled: 0, queued: 0, sealed: 0 });
    expect(h.agent.turns.history({ sessionId: id, limit: 5 }).messages).toHaveLength(1);
    h.store.db.pragma('query_only = OFF');
    await h.clock.advanceAsync(5_000);
    await h.settled(id, turnId);
    expect(h.agent.turns.get(id, turnId).status).toBe('completed');
  });

  it('a deleted turn id is told from a foreign one', async () => {
    await using h = await createKernelHarness();
    const id = chat(h);
    const other = chat(h);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
    try {
      h.agent.turns.decide({ sessionId: other, turnId, choice: 'stop' });
      expect.unreachable();
    } catch (error) {
      expect(isAppError(error, 'TURN_NOT_FOUND')).toBe(true);
    }
  });
});
