import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerReserve, buildContext, type Exchange, exchangesOf } from '../../../src/runtime/agent/context.ts';
import { dated } from '../../../src/runtime/agent/dateLine.ts';
import { newId } from '../../../src/shared/domain/ids.ts';
import { isAppError } from '../../../src/shared/errors/appError.ts';
import { scriptedTokens } from '../../helpers/scriptedLanguageModel.ts';
import { fixedQuestions } from '../../helpers/testModel.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createKernelHarness, type KernelHarness } from './harness.ts';

const chat = (h: KernelHarness) => h.agent.sessions.start({ origin: 'app', title: 'Named' }).session.id;
const textOf = (message: LanguageModelV4Prompt[number] | undefined): string => {
  if (message === undefined) return '';
  if (typeof message.content === 'string') return message.content;
  return message.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
};
const tokensOf = (prompt: LanguageModelV4Prompt): number => prompt.reduce((sum, message) => sum + scriptedTokens(textOf(message)), 0);
const exchange = (n: number, units: number): Exchange => ({
  turnId: newId('turn', n),
  sequence: n * 10,
  messages: [
    { role: 'user', text: 'q'.repeat(units), at: '' },
    { role: 'assistant', text: 'a'.repeat(units), at: '' },
  ],
});
const build = (exchanges: Exchange[], newest: string, contextSize: number, leftOut = 0) =>
  buildContext({
    system: 'Be brief.',
    exchanges,
    leftOut,
    newest: { text: newest, at: '', sequence: 9_999 },
    contextSize,
    dated: (text) => text,
    count: async (prompt) => tokensOf(prompt),
  });

describe('context', () => {
  it('CX-01: system, history, then the newest message with date and time where it speaks of them', async () => {
    verifies('CX-01');
    await using h = await createKernelHarness({ scripts: (_, call) => [{ say: `answer ${call}` }] });
    const id = chat(h);
    for (const content of ['first', 'What day is it today?']) {
      const { turnId } = h.agent.turns.send({ sessionId: id, content });
      await h.settled(id, turnId);
      h.clock.advance(60_000);
    }
    const prompt = h.model.calls[1]?.prompt ?? [];
    expect(prompt.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(textOf(prompt[0])).toContain('helpful assistant');
    expect(prompt.slice(1).map(textOf)).toEqual(['first', 'answer 0', 'What day is it today?\n(It is 2026-01-02T03:05.)']);
  });

  it('CX-01: the fixed questions of the starter model get no line, which would make it answer with a date', () => {
    verifies('CX-01');
    const line = (text: string) => dated(text, () => 'Monday, 30 November 2026 at 14:20') !== text;
    expect(fixedQuestions.map(([question]) => question).filter(line)).toEqual([]);
    for (const asked of [
      'What is the date?',
      "what's the time",
      'Which year is it?',
      'What should I do tonight?',
      'How many days until Christmas?',
      'Wie wird das Wetter morgen?',
      '今天星期几',
    ])
      expect([asked, line(asked)]).toEqual([asked, true]);
    expect(line(`Summarise:\n${'x '.repeat(2_000)}today${' y'.repeat(2_000)}`)).toBe(false);
  });

  it('CX-01: the prompt of the next turn begins with all that the engine has already read', async () => {
    verifies('CX-01');
    await using h = await createKernelHarness({ scripts: (_, call) => [{ say: `answer ${call}` }] });
    const id = chat(h);
    for (let n = 0; n < 5; n++) {
      const { turnId } = h.agent.turns.send({ sessionId: id, content: n % 2 === 0 ? `question ${n}` : `What happens today, ${n}?` });
      await h.settled(id, turnId);
      h.clock.advance(3_600_000);
    }
    for (let n = 1; n < 5; n++) {
      const before = JSON.stringify(h.model.calls[n - 1]?.prompt).slice(0, -1);
      expect(JSON.stringify(h.model.calls[n]?.prompt).startsWith(before)).toBe(true);
    }
  });

  it('CX-02: equal input gives equal bytes, counts come from the engine', async () => {
    verifies('CX-02');
    const bytes: string[] = [];
    for (let round = 0; round < 2; round++) {
      await using h = await createKernelHarness({ scripts: [{ say: 'same' }] });
      const id = chat(h);
      for (const content of ['one', 'two']) {
        const { turnId } = h.agent.turns.send({ sessionId: id, content });
        await h.settled(id, turnId);
      }
      bytes.push(JSON.stringify(h.model.calls.map((call) => [call.prompt, call.maxOutputTokens, call.temperature, call.topP])));
      const started = h.log(id).filter((event) => event.type === 'reason.started');
      expect(started.map((event) => event.data.context_tokens)).toEqual(h.model.calls.map((call) => tokensOf(call.prompt)));
    }
    expect(bytes[0]).toBe(bytes[1]);
  });

  it('BC-12, CX-03: a message that does not fit fails before generating with true counts, and does not poison the next one', async () => {
    verifies('BC-12', 'CX-03');
    await using h = await createKernelHarness({ contextSize: 4_096, scripts: [{ say: 'It is opal-77.' }] });
    const id = chat(h);
    const ask = async (content: string) => {
      const { turnId } = h.agent.turns.send({ sessionId: id, content });
      await h.settled(id, turnId);
      return h.agent.turns.get(id, turnId);
    };
    await ask('The password is opal-77.');
    const calls = h.model.calls.length;
    const failed = await ask('blah '.repeat((3 * 4_096 * 4) / 5));
    expect(failed.error?.code).toBe('CONTEXT_OVERFLOW');
    expect(failed.error?.details.contextSize).toBe(4_096);
    expect(Number(failed.error?.details.tokens)).toBeGreaterThan(3 * 4_000);
    expect(h.model.calls).toHaveLength(calls);
    expect((await ask('What is the password?')).status).toBe('completed');
    const prompt = h.model.calls.at(-1)?.prompt ?? [];
    expect(textOf(prompt[0])).toContain('helpful assistant');
    expect(JSON.stringify(prompt)).toContain('opal-77');
    expect(JSON.stringify(prompt)).not.toContain('blah');
    expect(h.types(id)).not.toContain('context.trimmed');
  });

  it('CX-03: older text that is left out is told once, whole exchanges at a time, and the rest stays put for the cache', async () => {
    verifies('CX-03');
    await using h = await createKernelHarness({ contextSize: 4_096, scripts: [{ say: 'a'.repeat(1_200), whole: true }] });
    const id = chat(h);
    for (let n = 0; n < 12; n++) {
      const { turnId } = h.agent.turns.send({ sessionId: id, content: `${n} ${'q'.repeat(1_200)}` });
      await h.settled(id, turnId);
      expect(h.agent.turns.get(id, turnId).status).toBe('completed');
    }
    const trims = h.log(id).filter((event) => event.type === 'context.trimmed');
    expect(trims.length).toBeGreaterThan(0);
    expect(trims.length).toBeLessThan(5);
    for (const { data } of trims) expect(Number(data.messages_left_out) % 2).toBe(0);
    const budget = 4_096 - answerReserve(4_096);
    for (const call of h.model.calls) {
      expect(tokensOf(call.prompt)).toBeLessThanOrEqual(budget);
      expect(call.prompt[0]?.role).toBe('system');
      expect(call.maxOutputTokens).toBeLessThanOrEqual(4_096 - tokensOf(call.prompt));
    }
    // Between two trims the beginning is the same.
    const starts = h.model.calls.map((call) => textOf(call.prompt[1]).slice(0, 3));
    expect(new Set(starts).size).toBe(trims.length + 1);
    // A larger context (another model) reads what still fits, whatever a smaller one left out.
    expect(trims.at(-1)?.data).toMatchObject({ context_size: 4_096, reason: 'context_size' });
  });

  it('roles alternate: a question that got no answer is joined with the next one', async () => {
    await using h = await createKernelHarness({ scripts: [[{ fail: new Error('x') }], [{ say: 'ok' }]] });
    const id = chat(h);
    for (const content of ['lost', 'next']) {
      const { turnId } = h.agent.turns.send({ sessionId: id, content });
      await h.settled(id, turnId);
    }
    const prompt = h.model.calls[1]?.prompt ?? [];
    expect(prompt.map((message) => message.role)).toEqual(['system', 'user']);
    expect(textOf(prompt[1])).toMatch(/lost[\s\S]*next/);
  });

  it('answer reserve by context size', () => {
    expect([256, 2_048, 4_096, 8_191, 8_192, 16_384, 32_768, 131_072].map(answerReserve)).toEqual([
      48, 384, 768, 768, 1_024, 2_048, 4_096, 4_096,
    ]);
  });

  it('CX-03: for any history the newest message is there, the budget holds, and no exchange is cut in two', async () => {
    verifies('CX-03');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 3_000 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 12_000 }),
        fc.integer({ min: 256, max: 8_192 }),
        async (sizes, newest, contextSize) => {
          const exchanges = sizes.map((units, n) => exchange(n + 1, units));
          const budget = contextSize - answerReserve(contextSize);
          const alone = tokensOf([{ role: 'system', content: 'Be brief.' }]) + scriptedTokens('n'.repeat(newest));
          try {
            const built = await build(exchanges, 'n'.repeat(newest), contextSize);
            expect(alone).toBeLessThanOrEqual(budget);
            expect(built.tokens).toBe(tokensOf(built.prompt));
            expect(built.tokens).toBeLessThanOrEqual(budget);
            expect(textOf(built.prompt.at(-1))).toBe('n'.repeat(newest));
            const kept = (built.prompt.length - 2) / 2;
            expect(Number.isInteger(kept)).toBe(true);
            expect(built.trim?.messagesLeftOut ?? 0).toBe((exchanges.length - kept) * 2);
            expect(built.room).toBe(contextSize - built.tokens);
          } catch (error) {
            if (!isAppError(error, 'CONTEXT_OVERFLOW')) throw error;
            expect(alone).toBeGreaterThan(budget);
            expect(error.data).toEqual({ tokens: alone, contextSize });
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('groups rows into exchanges, oldest first', () => {
    const [a, b] = [newId('turn', 1), newId('turn', 2)];
    const row = (turn_id: typeof a, sequence: number, role: 'user' | 'assistant', text: string) => ({
      turn_id,
      sequence,
      role,
      text,
      created_at: 't',
      heard: null,
    });
    expect(exchangesOf([row(b, 9, 'assistant', '4'), row(b, 8, 'user', '3'), row(a, 3, 'assistant', '2'), row(a, 2, 'user', '1')])).toEqual(
      [
        {
          turnId: a,
          sequence: 2,
          messages: [
            { role: 'user', text: '1', at: 't' },
            { role: 'assistant', text: '2', at: 't' },
          ],
        },
        {
          turnId: b,
          sequence: 8,
          messages: [
            { role: 'user', text: '3', at: 't' },
            { role: 'assistant', text: '4', at: 't' },
          ],
        },
      ],
    );
  });
});
