import { describe, expect, it } from 'vitest';
import { loadSqlite } from '../../../src/runtime/store/sqlite.ts';
import type { DurableEvent } from '../../../src/shared/domain/events.ts';
import { newId, SessionId } from '../../../src/shared/domain/ids.ts';
import { limits } from '../../../src/shared/domain/limits.ts';
import { plainText } from '../../../src/shared/domain/message.ts';
import { Turn, TurnSummary } from '../../../src/shared/domain/session.ts';
import { AppError, isAppError } from '../../../src/shared/errors/appError.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';
import { createScriptedModel, gate } from '../../helpers/scriptedLanguageModel.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createKernelHarness, type KernelHarness, keepingLog } from './harness.ts';

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return isAppError(error) ? error.code : String(error);
  }
  return 'none';
};

const chat = (h: KernelHarness) => h.agent.sessions.start({ origin: 'app' }).session.id;
const ofType = (events: DurableEvent[], type: string) => events.filter((event) => event.type === type);

describe('send', () => {
  it('TU-04: message, turn and its start are stored together before the reply', async () => {
    verifies('TU-04', 'TU-02', 'GE-08');
    const open = gate();
    await using h = await createKernelHarness({ scripts: [{ gate: open }, { say: 'Tokyo.' }] });
    const id = chat(h);
    const receipt = h.agent.turns.send({ sessionId: id, content: 'What is the capital of Japan?' });
    expect(receipt).toMatchObject({ delivery: 'started', duplicate: false });
    expect(Turn.parse(receipt.turn)).toMatchObject({ status: 'running', attempt: 1, waitingOn: null, retryOf: null, completedAt: null });
    expect(h.types(id).slice(0, 3)).toEqual(['session.started', 'input.message', 'turn.started']);
    // The same by another connection: it is on the disk, not in this process.
    const sqlite = await loadSqlite();
    const other = new sqlite(h.paths.database, { readonly: true });
    expect(other.prepare('SELECT count(*) FROM events').pluck().get()).toBeGreaterThanOrEqual(3);
    other.close();
    open.open();
    await h.settled(id, receipt.turnId);
    expect(h.agent.turns.get(id, receipt.turnId)).toMatchObject({ status: 'completed', result: { stop_reason: 'end' } });
  });

  it('TU-04: a message whose transaction fails was never accepted', async () => {
    verifies('TU-04');
    await using h = await createKernelHarness();
    const id = chat(h);
    h.store.db.exec("CREATE TRIGGER planted BEFORE INSERT ON leases BEGIN SELECT RAISE(ABORT, 'no lease'); END");
    expect(() => h.agent.turns.send({ sessionId: id, content: 'lost?' })).toThrow(/no lease/);
    expect(h.types(id)).toEqual(['session.started']);
    expect(h.model.calls).toHaveLength(0);
    h.store.db.exec('DROP TRIGGER planted');
    expect(h.agent.turns.send({ sessionId: id, content: 'again' }).delivery).toBe('started');
  });

  it("TU-15: the result has message, usage and stop reason; the model's limit is max_output", async () => {
    verifies('TU-15');
    await using h = await createKernelHarness({ scripts: [[{ say: 'Tokyo is it.' }], [{ say: 'cut' }, { finish: 'length' }]] });
    const id = chat(h);
    const first = h.agent.turns.send({ sessionId: id, content: 'one' });
    await h.settled(id, first.turnId);
    const done = Turn.parse(h.agent.turns.get(id, first.turnId));
    expect(done.result?.stop_reason).toBe('end');
    expect(done.result?.message && plainText(done.result.message)).toBe('Tokyo is it.');
    expect(done.result?.usage).toMatchObject({ model: 'scripted', outputTokens: 3, where: 'here' });
    h.model.play([{ say: 'cut' }, { finish: 'length' }]);
    const second = h.agent.turns.send({ sessionId: id, content: 'two' });
    await h.settled(id, second.turnId);
    expect(h.agent.turns.get(id, second.turnId).result?.stop_reason).toBe('max_output');
    expect(TurnSummary.parse(h.agent.turns.history({ sessionId: id, limit: 10 }).turns[1])).toMatchObject({ stopReason: 'max_output' });
  });

  it('TU-05, TU-06: one key is one turn; the same input again gives the same turn, another one is refused', async () => {
    verifies('TU-05', 'TU-06');
    await using h = await createKernelHarness();
    const [a, b] = [chat(h), chat(h)];
    const first = h.agent.turns.send({ sessionId: a, content: 'hello', idempotencyKey: 'k 1' });
    const twice = h.agent.turns.send({ sessionId: a, content: [{ type: 'text', text: 'hello' }], idempotencyKey: 'k 1' });
    expect(twice).toMatchObject({ turnId: first.turnId, duplicate: true });
    expect(codeOf(() => h.agent.turns.send({ sessionId: a, content: 'other', idempotencyKey: 'k 1' }))).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(h.agent.turns.send({ sessionId: b, content: 'other', idempotencyKey: 'k 1' }).duplicate).toBe(false);
    await h.settled(a, first.turnId);
    const late = h.agent.turns.send({ sessionId: a, content: 'hello', idempotencyKey: 'k 1' });
    expect(late).toMatchObject({ duplicate: true, turn: { status: 'completed' } });
    expect(h.model.calls.length).toBeLessThanOrEqual(2 + 2);
    expect(ofType(h.log(a), 'input.message')).toHaveLength(1);
    // Kept as long as the session, over a restart too.
    await h.crash();
    h.agent.recover();
    expect(h.agent.turns.send({ sessionId: a, content: 'hello', idempotencyKey: 'k 1' }).duplicate).toBe(true);
    expect(first.turn.idempotencyKey).toBe('k 1');
    const made = h.agent.turns.send({ sessionId: a, content: 'no key' });
    expect(made.turn.idempotencyKey).toMatch(/^[\x20-\x7e]{1,255}$/);
  });

  it('TU-03: a second message while a turn is open is TURN_ACTIVE and leaves nothing', async () => {
    verifies('TU-03');
    const open = gate();
    await using h = await createKernelHarness({ scripts: [{ gate: open }] });
    const id = chat(h);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'one' });
    try {
      h.agent.turns.send({ sessionId: id, content: 'two' });
      expect.unreachable();
    } catch (error) {
      expect(isAppError(error, 'TURN_ACTIVE') && error.data).toEqual({ turnId });
    }
    expect(ofType(h.log(id), 'input.message')).toHaveLength(1);
    open.open();
  });

  it('TU-17: four turns run, the rest waits and starts oldest first as slots come free', async () => {
    verifies('TU-17');
    const gates = Array.from({ length: 7 }, gate);
    await using h = await createKernelHarness({
      scripts: (prompt) => {
        const text = JSON.stringify(prompt.at(-1));
        return [{ gate: gates[Number(/number (\d)/.exec(text)?.[1])] ?? gate() }, { say: 'done' }];
      },
    });
    const sent = gates.map((_, n) => {
      const id = chat(h);
      h.clock.advance(1);
      return { id, ...h.agent.turns.send({ sessionId: id, content: `number ${n}` }) };
    });
    expect(sent.map((turn) => turn.delivery)).toEqual(['started', 'started', 'started', 'started', 'queued', 'queued', 'queued']);
    const states = () => sent.map(({ id, turnId }) => h.agent.turns.get(id, turnId).status);
    expect(states().slice(4)).toEqual(['queued', 'queued', 'queued']);
    gates[2]?.open();
    await h.settled(sent[2]?.id as SessionId, sent[2]?.turnId as (typeof sent)[0]['turnId']);
    await gates[4]?.reached;
    expect(states()).toEqual(['running', 'running', 'completed', 'running', 'running', 'queued', 'queued']);
    for (const one of gates) one.open();
    for (const { id, turnId } of sent) await h.settled(id, turnId);
    expect(states()).toEqual(Array(7).fill('completed'));
  });

  it('EV-16, GE-06: empty, huge and broken text: refused, refused, mended', async () => {
    verifies('EV-16', 'GE-06');
    await using h = await createKernelHarness();
    const id = chat(h);
    for (const blank of [' ', '\n\t ', [{ type: 'text' as const, text: '  ' }]])
      expect(codeOf(() => h.agent.turns.send({ sessionId: id, content: blank }))).toBe('INVALID_INPUT');
    expect(codeOf(() => h.agent.turns.send({ sessionId: id, content: 'x'.repeat(limits.maxInputBytes + 1) }))).toBe('EVENT_TOO_LARGE');
    expect(codeOf(() => h.agent.turns.send({ sessionId: id, content: '€'.repeat(limits.maxInputBytes / 2) }))).toBe('EVENT_TOO_LARGE');
    expect(h.types(id)).toEqual(['session.started']);
    // Half a pair has no UTF-8 form; the rest of the text must survive, a zero character too.
    const odd = 'a\ud800b\u0000c \udfff 😀';
    const { turnId, turn } = h.agent.turns.send({ sessionId: id, content: odd, idempotencyKey: 'odd' });
    expect(plainText(turn.input)).toBe('a\uFFFDb\u0000c \uFFFD 😀');
    await h.settled(id, turnId);
    expect(h.agent.turns.history({ sessionId: id, limit: 5 }).messages[0]?.text).toBe('a\uFFFDb\u0000c \uFFFD 😀');
    expect(h.agent.turns.send({ sessionId: id, content: odd, idempotencyKey: 'odd' }).duplicate).toBe(true);
  });

  it('EV-16: a paste of 1 MiB is stored whole', async () => {
    verifies('EV-16');
    await using h = await createKernelHarness();
    const id = chat(h);
    const paste = `line "one"\n${'Grüße! '.repeat(200_000)}`.slice(0, 800_000);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: paste });
    await h.settled(id, turnId);
    expect(h.agent.turns.get(id, turnId).error?.code).toBe('CONTEXT_OVERFLOW');
    await h.crash();
    h.agent.recover();
    expect(h.agent.turns.history({ sessionId: id, limit: 5 }).messages[0]?.text).toBe(paste);
    const exact = 'y'.repeat(limits.maxInputBytes);
    const second = h.agent.turns.send({ sessionId: id, content: exact });
    expect(plainText(second.turn.input)).toBe(exact);
  });

  it('unknown sessions and turns are told apart from refusals', async () => {
    await using h = await createKernelHarness();
    const [a, b] = [chat(h), chat(h)];
    expect(codeOf(() => h.agent.turns.send({ sessionId: SessionId.parse('nobody'), content: 'x' }))).toBe('SESSION_NOT_FOUND');
    const { turnId } = h.agent.turns.send({ sessionId: a, content: 'x' });
    expect(codeOf(() => h.agent.turns.get(b, turnId))).toBe('TURN_NOT_FOUND');
    expect(codeOf(() => h.agent.turns.get(a, newId('turn', 0)))).toBe('TURN_NOT_FOUND');
    expect(codeOf(() => h.agent.turns.retry({ sessionId: b, turnId }))).toBe('TURN_NOT_FOUND');
  });

  it('SE-15: a log that is too large takes no more messages and can still be read', async () => {
    verifies('SE-15');
    await using h = await createKernelHarness();
    const id = chat(h);
    h.store.db.prepare('UPDATE sessions SET log_bytes = ?').run(limits.logBytes);
    expect(codeOf(() => h.agent.turns.send({ sessionId: id, content: 'x' }))).toBe('SESSION_LOG_TOO_LARGE');
    h.store.db.prepare('UPDATE sessions SET log_bytes = 0, last_sequence = ?').run(limits.logEvents);
    expect(codeOf(() => h.agent.turns.send({ sessionId: id, content: 'x' }))).toBe('SESSION_LOG_TOO_LARGE');
    expect(h.agent.turns.history({ sessionId: id, limit: 5 }).messages).toEqual([]);
  });
});

describe('failures', () => {
  it('TU-16: a failed turn keeps its code, its events and what was said; the next message goes on', async () => {
    verifies('TU-16', 'SE-04');
    await using h = await createKernelHarness({
      scripts: [
        [{ say: 'Half an ans' }, { fail: new AppError('ENGINE_CRASHED', { engineKey: 'language', stage: 'decode' }) }],
        [{ say: 'Whole.' }],
      ],
    });
    const id = chat(h);
    const first = h.agent.turns.send({ sessionId: id, content: 'one' });
    await h.settled(id, first.turnId);
    expect(h.agent.turns.get(id, first.turnId)).toMatchObject({
      status: 'failed',
      error: { code: 'ENGINE_CRASHED', details: { engineKey: 'language', stage: 'decode' } },
    });
    expect(h.agent.sessions.get(id)).toMatchObject({ status: 'idle', last_turn_status: 'failed' });
    const second = h.agent.turns.send({ sessionId: id, content: 'two' });
    await h.settled(id, second.turnId);
    const { messages } = h.agent.turns.history({ sessionId: id, limit: 10 });
    expect(messages.map(({ role, text, interrupted }) => [role, text, interrupted])).toEqual([
      ['user', 'one', false],
      ['assistant', 'Half an ans', true],
      ['user', 'two', false],
      ['assistant', 'Whole.', false],
    ]);
    expect(h.agent.sessions.get(id)).toMatchObject({ status: 'idle', last_turn_status: 'completed' });
  });

  it('GE-04: an unknown fault becomes INTERNAL with an incident number, and no word of the person reaches the log', async () => {
    verifies('GE-04');
    const { log, lines } = keepingLog();
    await using h = await createKernelHarness({
      scripts: [{ say: 'MARBLE-answer' }, { fail: new Error('MARBLE in a native text') }],
      agent: { log },
    });
    const id = chat(h);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'MARBLE-question' });
    await h.settled(id, turnId);
    const { error } = h.agent.turns.get(id, turnId);
    const incident = JSON.stringify(error?.details.incident).slice(1, -1);
    expect(incident).toMatch(/^[0-9A-F]{8}$/);
    expect(error).toMatchObject({ code: 'INTERNAL', message: 'INTERNAL', details: { incident } });
    expect(JSON.stringify(lines)).not.toContain('MARBLE');
    expect(JSON.stringify(lines)).toContain(incident);
  });

  it('no model: the turn fails with the reason, the message is kept', async () => {
    await using h = await createKernelHarness({
      agent: { models: { current: () => null, unavailable: () => new AppError('MODEL_NOT_INSTALLED', { modelId: 'smollm2' }) } },
    });
    const id = chat(h);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'hello' });
    await h.settled(id, turnId);
    expect(h.agent.turns.get(id, turnId).error).toMatchObject({ code: 'MODEL_NOT_INSTALLED', details: { modelId: 'smollm2' } });
    expect(h.types(id)).toEqual(['session.started', 'input.message', 'turn.started', 'turn.failed']);
  });

  it('TU-13, EV-07: a stalled model is tried once more from the log; what it had said is voided', async () => {
    verifies('TU-13', 'EV-07');
    const timeout = new AppError('ENGINE_TIMEOUT', { engineKey: 'language', stage: 'decode' });
    await using h = await createKernelHarness({ scripts: [[{ say: 'To' }, { fail: timeout }], [{ say: 'Tokyo.' }]] });
    const id = chat(h);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'capital?' });
    await h.settled(id, turnId);
    const log = h.log(id);
    expect(ofType(log, 'reason.started')).toHaveLength(2);
    const [voided] = ofType(log, 'output.message.replaced');
    const [said] = ofType(log, 'output.message.completed');
    expect(voided?.data.reason).toBe('stalled');
    expect(said?.context.message_id).not.toBe(voided?.data.message_id);
    expect(h.agent.turns.history({ sessionId: id, limit: 5 }).messages.map((message) => message.text)).toEqual(['capital?', 'Tokyo.']);
    expect(h.model.calls[0]?.prompt).toEqual(h.model.calls[1]?.prompt);
  });

  it('TU-13: a second stall is MODEL_STALLED with its cause; other engine faults are not tried again', async () => {
    verifies('TU-13');
    const timeout = new AppError('ENGINE_TIMEOUT', { engineKey: 'language', stage: 'prefill' });
    await using h = await createKernelHarness({ scripts: [{ fail: timeout }] });
    const id = chat(h);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
    await h.settled(id, turnId);
    expect(h.agent.turns.get(id, turnId).error).toMatchObject({ code: 'MODEL_STALLED', details: { cause: 'ENGINE_TIMEOUT' } });
    expect(h.model.calls).toHaveLength(2);
    h.model.play([{ fail: new AppError('OUT_OF_MEMORY', { stage: 'decode' }) }]);
    const second = h.agent.turns.send({ sessionId: id, content: 'y' });
    await h.settled(id, second.turnId);
    expect(h.model.calls).toHaveLength(3);
  });

  it('TU-13: a remote model that says nothing for 45 s is tried once more, but never after its first byte: that would be charged twice', async () => {
    verifies('TU-13');
    const clock = createFakeClock();
    const model = createScriptedModel([{ stall: true }], { where: 'away', clock });
    await using h = await createKernelHarness({
      agent: { models: { current: () => model, unavailable: () => new AppError('MODEL_NOT_INSTALLED', { modelId: 'none' }) } },
    });
    const ask = async (expected: number) => {
      const id = chat(h);
      const before = model.calls.length;
      const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
      for (let tries = 1; tries <= expected; tries++) {
        await h.until(() => model.calls.length === before + tries);
        await h.clock.advanceAsync(45_000);
      }
      await h.settled(id, turnId);
      return { turn: h.agent.turns.get(id, turnId), calls: model.calls.length };
    };
    const silentOnes = await ask(2);
    expect(silentOnes).toMatchObject({ turn: { error: { code: 'MODEL_STALLED', details: { cause: 'ENGINE_TIMEOUT' } } }, calls: 2 });
    model.play([{ say: 'Half' }, { stall: true }]);
    const spoke = await ask(1);
    expect(spoke).toMatchObject({ turn: { error: { code: 'MODEL_STALLED' } }, calls: 3 });
  });

  it('TU-12: working time runs out: TURN_TIMEOUT, the model is stopped, nobody had to listen', async () => {
    verifies('TU-12');
    const open = gate();
    await using h = await createKernelHarness({ scripts: [{ say: 'Well' }, { gate: open }, { stall: true }] });
    const id = chat(h);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
    await open.reached;
    await h.clock.advanceAsync(limits.turnTimeoutMs - 1);
    expect(h.agent.turns.get(id, turnId).status).toBe('running');
    await h.clock.advanceAsync(1);
    await h.settled(id, turnId);
    expect(h.agent.turns.get(id, turnId)).toMatchObject({ status: 'failed', error: { code: 'TURN_TIMEOUT' } });
    expect(h.model.calls[0]?.abortSignal?.aborted).toBe(true);
    expect(h.agent.turns.history({ sessionId: id, limit: 5 }).messages.at(-1)).toMatchObject({ text: 'Well', interrupted: true });
  });

  it('a model that never stops is cut, and the turn ends', async () => {
    await using h = await createKernelHarness({ scripts: [{ endless: 'x'.repeat(20_000) }] });
    const id = chat(h);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
    await h.settled(id, turnId);
    expect(h.agent.turns.get(id, turnId)).toMatchObject({ status: 'completed', result: { stop_reason: 'max_output' } });
  });

  it('ST-02: an answer whose end cannot be stored is held and stored as soon as it can', async () => {
    verifies('ST-02');
    const open = gate();
    await using h = await createKernelHarness({ scripts: [{ say: 'Held answer.' }, { gate: open }] });
    const id = chat(h);
    const { turnId } = h.agent.turns.send({ sessionId: id, content: 'x' });
    await open.reached;
    h.store.db.pragma('query_only = ON');
    open.open();
    for (let n = 0; n < 50; n++) await new Promise((resolve) => setImmediate(resolve));
    expect(h.store.state.get()).toEqual({ state: 'read-only', code: 'STORE_READ_ONLY' });
    expect(h.agent.turns.get(id, turnId).status).toBe('running');
    expect(codeOf(() => h.agent.turns.send({ sessionId: chatOf(h), content: 'y' }))).toBe('STORE_READ_ONLY');
    h.store.db.pragma('query_only = OFF');
    await h.clock.advanceAsync(5_000);
    await h.settled(id, turnId);
    expect(h.agent.turns.history({ sessionId: id, limit: 5 }).messages.at(-1)).toMatchObject({ text: 'Held answer.', interrupted: false });
  });
});

describe('retry', () => {
  it('sends the same input as a new turn, folds the old exchange away and leaves it out of the context', async () => {
    await using h = await createKernelHarness({ scripts: (_, call) => [{ say: `answer ${call}` }] });
    const id = h.agent.sessions.start({ origin: 'app', title: 'Named' }).session.id;
    const ask = async (content: string) => {
      const receipt = h.agent.turns.send({ sessionId: id, content });
      await h.settled(id, receipt.turnId);
      return receipt.turnId;
    };
    await ask('first');
    const second = await ask('second');
    const retry = h.agent.turns.retry({ sessionId: id, turnId: second, idempotencyKey: 'r' });
    expect(retry.turn).toMatchObject({ retryOf: second, input: { content: [{ type: 'text', text: 'second' }] } });
    expect(h.agent.turns.retry({ sessionId: id, turnId: second, idempotencyKey: 'r' })).toMatchObject({
      turnId: retry.turnId,
      duplicate: true,
    });
    await h.settled(id, retry.turnId);
    expect(JSON.stringify(h.model.calls[2]?.prompt)).not.toContain('answer 1');
    expect(h.model.calls[2]?.prompt).toEqual(h.model.calls[1]?.prompt);
    const { messages } = h.agent.turns.history({ sessionId: id, limit: 10 });
    expect(messages.map((message) => [message.text, message.supersededBy])).toEqual([
      ['first', null],
      ['answer 0', null],
      ['second', retry.turnId],
      ['answer 1', retry.turnId],
      ['second', null],
      ['answer 2', null],
    ]);
  });
});

/** A session that exists already: making one would need the store. */
function chatOf(h: KernelHarness): SessionId {
  const [first] = h.agent.sessions.list({ limit: 1, trash: false }).sessions;
  if (first === undefined) throw new Error('no session');
  return first.id;
}
