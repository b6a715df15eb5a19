import { describe, expect, it } from 'vitest';
import { createConversation } from '../../../src/runtime/compose/conversation.ts';
import type { LanguageModel, LanguageModelV4Prompt } from '../../../src/runtime/inference/languageModel.ts';
import type { ReplyItem, SpokenTurn } from '../../../src/runtime/voice/ports.ts';
import type { DurableEvent } from '../../../src/shared/domain/events.ts';
import { newId, SessionId } from '../../../src/shared/domain/ids.ts';
import { AppError, isAppError } from '../../../src/shared/errors/appError.ts';
import { createScriptedModel, gate } from '../../helpers/scriptedLanguageModel.ts';
import { createKernelHarness, type KernelHarness, type KernelOptions, silent } from '../agent/harness.ts';

async function talking(options: KernelOptions = {}) {
  const h = await createKernelHarness(options);
  const conversation = () => createConversation({ agent: h.agent, log: silent });
  return {
    h,
    conversation,
    say: (text: string, key: string = newId('req', 0), sessionId: SessionId | null = null) => conversation().send({ sessionId, text, key }),
    [Symbol.asyncDispose]: () => h[Symbol.asyncDispose](),
  };
}

const never = new AbortController().signal;

/** Reads an answer until the predicate holds, to its end without one. */
async function take(items: AsyncIterable<ReplyItem>, until: (item: ReplyItem) => boolean = () => false): Promise<ReplyItem[]> {
  const taken: ReplyItem[] = [];
  for await (const item of items) {
    taken.push(item);
    if (until(item)) break;
  }
  return taken;
}

const textOf = (items: readonly ReplyItem[]): string => items.map((item) => (item.kind === 'delta' ? item.text : '')).join('');
const data = (h: KernelHarness, turn: SpokenTurn, type: string): DurableEvent['data'][] =>
  h.log(turn.sessionId).flatMap((event) => (event.type === type && event.context.turn_id === turn.turnId ? [event.data] : []));
/** What the model was asked for this message; titles are asked for too. */
const promptFor = (h: KernelHarness, text: string): LanguageModelV4Prompt =>
  h.model.calls.map(({ prompt }) => prompt).find((prompt) => JSON.stringify(prompt.at(-1)).includes(text)) ?? [];
const assistantText = (prompt: LanguageModelV4Prompt): string =>
  prompt
    .flatMap((message) => (message.role === 'assistant' ? message.content.map((part) => (part.type === 'text' ? part.text : '')) : []))
    .join('');

describe('what was said becomes a turn', () => {
  it('VO-28: with source voice, in a new chat of voice; the same key twice makes one chat and one turn', async () => {
    await using t = await talking({ scripts: [{ say: 'Paris.' }] });
    const first = t.say('What is the capital of France?', 'utterance-1');
    expect(t.say('What is the capital of France?', 'utterance-1')).toEqual(first);
    await t.h.settled(first.sessionId, first.turnId);
    expect(t.say('What is the capital of France?', 'utterance-1')).toEqual(first);
    expect(t.h.agent.sessions.list({ limit: 10, trash: false }).sessions.map(({ id, origin }) => [id, origin])).toEqual([
      [first.sessionId, 'voice'],
    ]);
    expect(data(t.h, first, 'input.message')).toMatchObject([{ source: 'voice', idempotency_key: 'utterance-1' }]);
    const second = t.say('And of Japan?', 'utterance-2', first.sessionId);
    expect(second.sessionId).toBe(first.sessionId);
    expect(t.say('New chat.', 'utterance-3').sessionId).not.toBe(first.sessionId);
  });

  it('a typed message stays text, in a chat of voice too', async () => {
    await using t = await talking();
    const spoken = t.say('Hello.');
    await t.h.settled(spoken.sessionId, spoken.turnId);
    const { turnId } = t.h.agent.turns.send({ sessionId: spoken.sessionId, content: 'typed' });
    expect(data(t.h, { ...spoken, turnId }, 'input.message')).toMatchObject([{ source: 'text' }]);
  });

  it('row 31: the words that go on from a cancelled turn fold its exchange away', async () => {
    await using t = await talking({ scripts: [{ stall: true }] });
    const first = t.say('What is the capital');
    t.conversation().cancel(first, 'eot-revoked');
    await t.h.settled(first.sessionId, first.turnId);
    t.h.model.play([{ say: 'Tokyo.' }]);
    const { sessionId } = first;
    const whole = t.conversation().send({ sessionId, text: 'What is the capital of Japan?', key: 'k2', replaces: first.turnId });
    await t.h.settled(sessionId, whole.turnId);
    const { messages } = t.h.agent.turns.history({ sessionId, limit: 9 });
    expect(messages.map(({ text, supersededBy }) => [text, supersededBy])).toEqual([
      ['What is the capital', whole.turnId],
      ['What is the capital of Japan?', null],
      ['Tokyo.', null],
    ]);
    expect(promptFor(t.h, 'of Japan').filter(({ role }) => role === 'user')).toHaveLength(1);
    expect(() => t.conversation().send({ sessionId, text: 'x', key: 'k3', replaces: newId('turn', 1) })).toThrow('TURN_NOT_FOUND');
  });
});

describe('the answer is followed', () => {
  it('from stage to text to end', async () => {
    const open = gate();
    await using t = await talking({
      scripts: [{ progress: { kind: 'prefill', done: 30, total: 60, reused: 0 } }, { gate: open }, { say: 'It is Paris.' }],
    });
    const turn = t.say('What is the capital of France?');
    const items = take(t.conversation().follow(turn, never));
    await open.reached;
    await t.h.until(() => t.h.model.calls.length === 1);
    open.open();
    await t.h.settled(turn.sessionId, turn.turnId);
    const all = await items;
    expect(all).toContainEqual({ kind: 'stage', stage: 'reading', fraction: 0.5 });
    expect(all).toContainEqual({ kind: 'stage', stage: 'writing', fraction: null });
    expect(textOf(all)).toBe('It is Paris.');
    expect(all.at(-1)).toEqual({ kind: 'ended', how: 'completed' });
  });

  it('from its beginning however late one joins, also after its end', async () => {
    const open = gate();
    await using t = await talking({ scripts: [{ say: 'Once upon a time ' }, { gate: open }, { say: 'there was a fox.' }] });
    const turn = t.say('Tell me a story.');
    await open.reached;
    const late = take(t.conversation().follow(turn, never));
    const other = t.conversation().follow(turn, never)[Symbol.asyncIterator]();
    expect(await other.next()).toMatchObject({ value: { kind: 'stage' } });
    open.open();
    await t.h.settled(turn.sessionId, turn.turnId);
    expect(textOf(await late)).toBe('Once upon a time there was a fox.');
    const after = await take(t.conversation().follow(turn, never));
    expect(after).toEqual([
      { kind: 'delta', text: 'Once upon a time there was a fox.' },
      { kind: 'ended', how: 'completed' },
    ]);
    await other.return?.();
  });

  it('EV-08: whoever reads slowly gets every word once all the same', async () => {
    const words = Array.from({ length: 3_000 }, (_, i) => `w${i}`).join(' ');
    const open = gate();
    await using t = await talking({ scripts: [{ say: 'w ' }, { gate: open }, { say: words }] });
    const turn = t.say('Many words.');
    const reader = t.conversation().follow(turn, never)[Symbol.asyncIterator]();
    const items: ReplyItem[] = [];
    for (let next = await reader.next(); next.done !== true; next = await reader.next()) {
      items.push(next.value);
      if (textOf(items) === '') continue;
      break;
    }
    open.open();
    // Far more live events than its buffer holds pass by while it does not read.
    for (let moved = 0; t.h.agent.turns.get(turn.sessionId, turn.turnId).completedAt === null; moved += 1) {
      if (moved > 20_000) throw new Error('it never ended');
      await t.h.clock.advanceAsync(100);
    }
    for (let next = await reader.next(); next.done !== true; next = await reader.next()) items.push(next.value);
    expect(textOf(items)).toBe(`w ${words}`);
    expect(items.at(-1)).toEqual({ kind: 'ended', how: 'completed' });
  });

  it('VO-61: says that the words so far are void when the model begins anew', async () => {
    await using t = await talking({
      scripts: [
        [{ say: 'First try' }, { fail: new AppError('ENGINE_TIMEOUT', { engineKey: 'language', stage: 'decode' }) }],
        [{ say: 'Second try.' }],
      ],
    });
    const turn = t.say('Go.');
    const items = await take(t.conversation().follow(turn, never));
    const at = items.findIndex(({ kind }) => kind === 'replaced');
    expect(textOf(items.slice(0, at))).toMatch(/^First/);
    expect(textOf(items.slice(at))).toBe('Second try.');
    expect(items.at(-1)).toEqual({ kind: 'ended', how: 'completed' });
  });

  it('a failure comes with its code, and a turn that is not there is one', async () => {
    await using t = await talking({ scripts: [{ fail: new AppError('ENGINE_CRASHED', { engineKey: 'language' }) }] });
    const turn = t.say('Go.');
    const end = (await take(t.conversation().follow(turn, never))).at(-1);
    expect(end).toMatchObject({ kind: 'ended', how: 'failed' });
    expect(end?.kind === 'ended' && end.how === 'failed' && isAppError(end.error, 'ENGINE_CRASHED')).toBe(true);
    await expect(take(t.conversation().follow({ ...turn, turnId: newId('turn', 1) }, never))).rejects.toThrow('TURN_NOT_FOUND');
  });

  it('ends without a word when nobody wants it any more', async () => {
    const open = gate();
    await using t = await talking({ scripts: [{ gate: open }, { say: 'Late.' }] });
    const turn = t.say('Go.');
    const left = new AbortController();
    const items = take(t.conversation().follow(turn, left.signal));
    await open.reached;
    left.abort();
    expect((await items).filter(({ kind }) => kind !== 'stage')).toEqual([]);
  });
});

describe('the turn is ended', () => {
  it.each(['barge-in', 'eot-revoked', 'user-cancel', 'timeout', 'external'] as const)(
    'VO-75: %s is the reason of its one turn.cancelled; leases are released, and only what was heard may follow',
    async (reason) => {
      const open = gate();
      await using t = await talking({ scripts: [{ say: 'Once upon a' }, { gate: open }, { endless: ' time' }] });
      const turn = t.say('A story.');
      await open.reached;
      const items = take(t.conversation().follow(turn, never));
      t.conversation().cancel(turn, reason);
      t.conversation().cancel(turn, 'user-cancel');
      await t.h.settled(turn.sessionId, turn.turnId);
      // The abort comes back to whoever follows.
      expect((await items).at(-1)).toEqual({ kind: 'ended', how: 'cancelled' });
      t.conversation().cancel(turn, 'user-cancel');
      t.conversation().heard(turn, 4);
      t.conversation().heard(turn, 9);
      expect(data(t.h, turn, 'turn.cancelled')).toEqual([expect.objectContaining({ by: 'owner', reason, stop_reason: 'cancelled' })]);
      expect(t.h.types(turn.sessionId).slice(-2)).toEqual(['turn.cancelled', 'output.message.heard']);
      expect(t.h.store.db.prepare('SELECT count(*) FROM leases').pluck().get()).toBe(0);
    },
  );

  it('a typed cancel says "asked", as ever, and comes to whoever speaks the answer', async () => {
    const open = gate();
    await using t = await talking({ scripts: [{ gate: open }] });
    const turn = t.say('A story.');
    const items = take(t.conversation().follow(turn, never));
    await open.reached;
    t.h.agent.turns.cancel({ sessionId: turn.sessionId });
    expect((await items).at(-1)).toEqual({ kind: 'ended', how: 'cancelled' });
    expect(data(t.h, turn, 'turn.cancelled')).toMatchObject([{ by: 'owner', reason: 'asked' }]);
  });

  it('keeps the reason over a crash between the wish and the end', async () => {
    const open = gate();
    await using t = await talking({ scripts: [{ say: 'Once' }, { gate: open }, { stall: true }] });
    const turn = t.say('A story.');
    await open.reached;
    t.h.store.write(() => t.conversation().cancel(turn, 'barge-in'));
    await t.h.crash();
    t.h.agent.recover();
    expect(data(t.h, turn, 'turn.cancelled')).toMatchObject([{ reason: 'barge-in' }]);
  });

  it('VO-74: words that cut it short need not wait for a model that does not stop; nothing of the old turn is told later', async () => {
    const [open, deaf] = [gate(), gate()];
    await using t = await talking({
      scripts: [
        [{ say: 'Once upon' }, { gate: open }, { endless: ' time' }],
        [{ gate: deaf }, { say: 'Yes.' }],
      ],
    });
    const first = t.say('A story.');
    await open.reached;
    const signal = t.h.model.calls[0]?.abortSignal;
    t.conversation().cancel(first, 'barge-in');
    expect(signal?.aborted).toBe(true);
    expect(t.h.agent.turns.get(first.sessionId, first.turnId).status).toBe('cancelling');
    const second = t.say('Another one.', 'k2', first.sessionId);
    expect(t.h.agent.turns.get(first.sessionId, first.turnId)).toMatchObject({ status: 'cancelled' });
    expect(data(t.h, first, 'turn.cancelled')).toMatchObject([{ reason: 'barge-in' }]);
    t.conversation().heard(first, 4);
    await deaf.reached;
    const items = take(t.conversation().follow(second, never));
    deaf.open();
    await t.h.settled(second.sessionId, second.turnId);
    expect(textOf(await items)).toBe('Yes.');
    const { messages } = t.h.agent.turns.history({ sessionId: first.sessionId, limit: 9 });
    expect(messages.map(({ text, interrupted, heard }) => [text, interrupted, heard])).toEqual([
      ['A story.', false, null],
      ['Once upon', true, 4],
      ['Another one.', false, null],
      ['Yes.', false, null],
    ]);
    expect(
      t.h
        .log(first.sessionId)
        .filter(({ context }) => context.turn_id === first.turnId)
        .at(-1)?.type,
    ).toBe('output.message.heard');
  });

  it('VO-74: what a deaf model says of a turn that was given up reaches nobody', async () => {
    const [open, stuck] = [gate(), gate()];
    const model = createScriptedModel([[{ say: 'Once upon' }, { gate: open }, { gate: stuck }, { say: ' a time.' }], [{ say: 'Yes.' }]]);
    let calls = 0;
    const deaf: LanguageModel = {
      ...model,
      doStream: ({ abortSignal, ...call }) => model.doStream((calls += 1) === 1 ? call : { ...call, ...(abortSignal && { abortSignal }) }),
    };
    await using t = await talking({ agent: { models: { current: () => deaf, unavailable: () => new AppError('MODEL_NOT_INSTALLED') } } });
    const first = t.say('A story.');
    await open.reached;
    t.conversation().cancel(first, 'barge-in');
    const second = t.say('Another one.', 'k2', first.sessionId);
    const items = take(t.conversation().follow(second, never));
    open.open();
    await stuck.reached;
    stuck.open();
    await t.h.settled(second.sessionId, second.turnId);
    expect(textOf(await items)).toBe('Yes.');
    expect(t.h.agent.turns.history({ sessionId: first.sessionId, limit: 9 }).messages.map(({ text }) => text)).toEqual([
      'A story.',
      'Once upon',
      'Another one.',
      'Yes.',
    ]);
  });

  it('a typed message waits for the end of a turn that is cancelled, as ever', async () => {
    const open = gate();
    await using t = await talking({ scripts: [{ gate: open }, { endless: 'x' }] });
    const first = t.say('A story.');
    await open.reached;
    t.h.store.write(() => {
      t.conversation().cancel(first, 'barge-in');
      expect(() => t.h.agent.turns.send({ sessionId: first.sessionId, content: 'typed' })).toThrow('TURN_ACTIVE');
    });
  });

  it('leaves a turn and a chat alone that are gone, without a throw', async () => {
    await using t = await talking();
    const gone = { sessionId: SessionId.parse('nowhere'), turnId: newId('turn', 1) };
    t.conversation().cancel(gone, 'barge-in');
    t.conversation().heard(gone, 3);
    const turn = t.say('Hello.');
    await t.h.settled(turn.sessionId, turn.turnId);
    t.conversation().cancel(turn, 'barge-in');
    expect(t.h.agent.turns.get(turn.sessionId, turn.turnId).status).toBe('completed');
  });
});

describe('what was heard (VO-41)', () => {
  const answer = 'It is Paris. The city has two million people.';

  it('is stored once after the end, the transcript keeps all words, and the next prompt only what was heard', async () => {
    await using t = await talking({ scripts: [{ say: answer }] });
    const turn = t.say('What is the capital of France?');
    await t.h.settled(turn.sessionId, turn.turnId);
    t.conversation().heard(turn, 'It is Paris.'.length);
    t.conversation().heard(turn, answer.length);
    expect(data(t.h, turn, 'output.message.heard')).toMatchObject([{ heard_characters: 12 }]);
    expect(t.h.agent.turns.history({ sessionId: turn.sessionId, limit: 5 }).messages.map(({ text, heard }) => [text, heard])).toEqual([
      ['What is the capital of France?', null],
      [answer, 12],
    ]);
    const next = t.say('And of Spain?', 'k2', turn.sessionId);
    await t.h.settled(next.sessionId, next.turnId);
    const text = assistantText(promptFor(t.h, 'of Spain'));
    expect(text).toMatch(/^It is Paris\. /);
    expect(text).toContain('interrupted');
    expect(text).not.toContain('million');
  });

  it.each([
    [0, (text: string) => text.includes('interrupted') && !text.includes('Paris')],
    [answer.length, (text: string) => text === answer],
    [9_999, (text: string) => text === answer],
  ])('%i units of it', async (units, fits) => {
    await using t = await talking({ scripts: [{ say: answer }] });
    const turn = t.say('What is the capital of France?');
    await t.h.settled(turn.sessionId, turn.turnId);
    t.conversation().heard(turn, units);
    const next = t.say('And of Spain?', 'k2', turn.sessionId);
    await t.h.settled(next.sessionId, next.turnId);
    expect(assistantText(promptFor(t.h, 'of Spain'))).toSatisfy(fits);
    expect(data(t.h, turn, 'output.message.heard')).toMatchObject([{ heard_characters: Math.min(units, answer.length) }]);
  });

  it('told before the end of the turn is stored with it, behind the end', async () => {
    const open = gate();
    await using t = await talking({ scripts: [{ say: 'Once upon a time' }, { gate: open }, { stall: true }] });
    const turn = t.say('A story.');
    await open.reached;
    t.conversation().cancel(turn, 'barge-in');
    t.conversation().heard(turn, 4);
    expect(data(t.h, turn, 'output.message.heard')).toEqual([]);
    await t.h.settled(turn.sessionId, turn.turnId);
    expect(t.h.types(turn.sessionId).slice(-4)).toEqual([
      'output.message.completed',
      'llm.generation',
      'turn.cancelled',
      'output.message.heard',
    ]);
    expect(data(t.h, turn, 'output.message.heard')).toMatchObject([{ heard_characters: 4 }]);
  });

  it('survives a crash before the end of the turn, and after it nothing that was said is lost', async () => {
    const open = gate();
    await using t = await talking({ scripts: [{ say: 'Once upon a time' }, { gate: open }, { stall: true }] });
    const turn = t.say('A story.');
    await open.reached;
    t.h.store.write(() => {
      t.conversation().cancel(turn, 'barge-in');
      t.conversation().heard(turn, 4);
    });
    await t.h.crash();
    t.h.agent.recover();
    expect(data(t.h, turn, 'output.message.heard')).toMatchObject([{ heard_characters: 4 }]);
    expect(t.h.agent.turns.history({ sessionId: turn.sessionId, limit: 5 }).messages.at(-1)).toMatchObject({
      text: 'Once upon a time',
      interrupted: true,
      heard: 4,
    });
    t.h.model.play([{ say: answer }]);
    const second = t.say('And then?', 'k2', turn.sessionId);
    await t.h.settled(second.sessionId, second.turnId);
    // Died after the end, before anybody said what was heard: the answer is there, whole.
    await t.h.crash();
    t.h.agent.recover();
    expect(t.h.agent.turns.history({ sessionId: turn.sessionId, limit: 5 }).messages.at(-1)).toMatchObject({ text: answer, heard: null });
    t.conversation().heard(second, 5);
    expect(data(t.h, second, 'output.message.heard')).toMatchObject([{ heard_characters: 5 }]);
  });

  it('of an answer without a word is nothing', async () => {
    await using t = await talking({ scripts: [{ stall: true }] });
    const turn = t.say('A story.');
    t.conversation().cancel(turn, 'barge-in');
    t.conversation().heard(turn, 0);
    await t.h.settled(turn.sessionId, turn.turnId);
    t.conversation().heard(turn, 0);
    expect(data(t.h, turn, 'output.message.heard')).toEqual([]);
  });

  it('waits for a store that cannot write', async () => {
    await using t = await talking({ scripts: [{ say: answer }] });
    const turn = t.say('What is the capital of France?');
    await t.h.settled(turn.sessionId, turn.turnId);
    t.h.store.db.exec('PRAGMA query_only = 1');
    t.conversation().heard(turn, 12);
    expect(data(t.h, turn, 'output.message.heard')).toEqual([]);
    t.h.store.db.exec('PRAGMA query_only = 0');
    await t.h.clock.advanceAsync(120_000);
    await t.h.until(() => data(t.h, turn, 'output.message.heard').length === 1);
  });
});
