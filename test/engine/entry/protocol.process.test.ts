import { describe, expect, it } from 'vitest';
import { ask, GENERATION, loadParams, startEngine, textOf } from '../../helpers/engineChild.ts';
import { fakeLlama, pieces } from '../../helpers/fakeLlama.ts';
import { verifies } from '../../helpers/verifies.ts';

describe('the engine as a supervised child', () => {
  it('says ready to a hello, pong to a ping, goodbye to a stop, and leaves with 0', async () => {
    using fake = fakeLlama();
    await using engine = startEngine(fake.env);
    await engine.call('load', loadParams(fake.model));
    engine.post({ k: 'ping', generation: GENERATION, n: 3 });
    await engine.until((frame) => frame.k === 'pong');
    engine.post({ k: 'stop', generation: GENERATION });
    expect(await engine.exit).toEqual({ code: 0, signal: null });
    const kinds = engine.frames.map((frame) => frame.k).filter((k) => k !== 'app');
    expect(kinds).toEqual(['ready', 'busy', 'idle', 'pong', 'goodbye']);
    // The memory was given back by calls, not by the exit.
    expect(fake.calls().slice(-2)).toEqual(['llama_free', 'llama_model_free']);
  });

  it('loads no library until a method needs it', async () => {
    using fake = fakeLlama();
    await using engine = startEngine(fake.env);
    await engine.until((frame) => frame.k === 'ready');
    engine.post({ k: 'stop', generation: GENERATION });
    await engine.exit;
    expect(fake.calls()).toEqual([]);
  });

  it('drops frames of another generation and frames that are none', async () => {
    using fake = fakeLlama();
    await using engine = startEngine(fake.env);
    await engine.until((frame) => frame.k === 'ready');
    engine.post({ k: 'ping', generation: GENERATION - 1, n: 1 });
    engine.post({ k: 'stop', generation: GENERATION + 1 });
    engine.post({ k: 'app', generation: 1, body: { t: 'call', id: 5, method: 'abi', params: {} } });
    engine.post('nonsense');
    engine.post({ k: 'hello', generation: 99 });
    engine.post({ k: 'ping', generation: GENERATION, n: 2 });
    await engine.until((frame) => frame.k === 'pong');
    expect(engine.frames).toEqual([
      { k: 'ready', generation: GENERATION },
      { k: 'pong', generation: GENERATION, n: 2 },
    ]);
  });

  it('answers a body that is no request, an unknown method and bad parameters, each with its error', async () => {
    using fake = fakeLlama();
    await using engine = startEngine(fake.env);
    engine.post({ k: 'app', generation: GENERATION, body: { t: 'shout', id: 900 } });
    expect((await engine.call('toString', {})).error).toMatchObject({ code: 'UNKNOWN_PROCEDURE' });
    expect((await engine.call('load', { path: '' })).error).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'path' } });
    expect((await engine.call('generate', ask('x'))).error).toMatchObject({
      code: 'INVALID_INPUT',
      data: { reason: 'no model is loaded' },
    });
    expect((await engine.call('generate', ask('x', { sampling: { temperature: Number.NaN } }))).error).toMatchObject({
      code: 'INVALID_INPUT',
      data: { field: 'sampling.temperature' },
    });
    expect(engine.frames.some((frame) => frame.k === 'app' && JSON.stringify(frame.body).includes('ENGINE_PROTOCOL'))).toBe(true);
  });

  it('ABI-12: runs one call at a time in order; cancelling one that waits leaves the others', async () => {
    verifies('ABI-12');
    using fake = fakeLlama({ LOOP: 1, PIECES: pieces('a'), TOKEN_MS: 2 });
    await using engine = startEngine(fake.env);
    await engine.call('load', loadParams(fake.model));
    const ends: string[] = [];
    const first = engine.call('generate', ask('x', { maxTokens: 40 })).then((end) => (ends.push('first'), end));
    const second = engine.call('generate', ask('y', { maxTokens: 5 })).then((end) => (ends.push('second'), end));
    engine.cancelLast();
    const third = engine.call('generate', ask('z', { maxTokens: 5 })).then((end) => (ends.push('third'), end));
    expect((await second).error?.code).toBe('CANCELLED');
    expect(textOf((await first).chunks)).toBe('a'.repeat(40));
    expect(textOf((await third).chunks)).toBe('aaaaa');
    expect(ends).toEqual(['second', 'first', 'third']);
    await engine.until((frame) => frame === engine.frames.at(-1) && frame.k === 'idle');
    const labels = engine.frames.filter((frame) => frame.k === 'busy' || frame.k === 'idle').map((frame) => frame.k);
    expect(labels).toEqual(['busy', 'idle', 'busy', 'idle', 'busy', 'idle']);
  });

  it('ends itself when the parent lets go', async () => {
    using fake = fakeLlama();
    await using engine = startEngine(fake.env);
    await engine.until((frame) => frame.k === 'ready');
    engine.process.disconnect();
    expect(await engine.exit).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('refuses a program that starts it by hand or with an unknown key', async () => {
    await using engine = startEngine({}, { key: 'poet' });
    expect(await engine.exit).toEqual({ code: 64, signal: null });
  });
});

describe('a call that its caller gives up', () => {
  it('ABI-05: cancel in decode takes hold within one token, and what was said stands', async () => {
    verifies('ABI-05');
    using fake = fakeLlama({ LOOP: 1, PIECES: pieces('a'), TOKEN_MS: 40 });
    await using engine = startEngine(fake.env);
    await engine.call('load', loadParams(fake.model));
    let cancelledAt = 0;
    let seen = 0;
    const end = await engine.call('generate', ask('x', { maxTokens: 1000 }), (chunk) => {
      const { kind, tokens } = chunk as { kind: string; tokens: number };
      if (kind !== 'text') return;
      seen += tokens;
      if (seen < 3 || cancelledAt > 0) return;
      cancelledAt = seen;
      engine.cancelLast();
    });
    expect(end.data).toMatchObject({ stopReason: 'cancelled' });
    // The token that was being made when the word came, and the one after it at most.
    const { outputTokens } = end.data as { outputTokens: number };
    expect(outputTokens - cancelledAt).toBeLessThanOrEqual(2);
    expect(textOf(end.chunks)).toBe('a'.repeat(outputTokens));
  });

  it('ABI-05: cancel in prefill takes hold inside the chunk, and the next prompt reuses what was read', async () => {
    verifies('ABI-05');
    using fake = fakeLlama({ PREFILL_MS: 200 });
    await using engine = startEngine(fake.env);
    await engine.call('load', { ...loadParams(fake.model), prefillChunk: 128 });
    const long = 'x'.repeat(1000);
    const end = await engine.call('generate', ask(long), (chunk) => {
      if ((chunk as { done?: number }).done !== 0) engine.cancelLast();
    });
    expect(end.data).toMatchObject({ stopReason: 'cancelled', outputTokens: 0 });
    const before = fake.calls().filter((line) => line.startsWith('llama_decode')).length;
    expect(before).toBeLessThan(8);
    fake.set({});
    const again = await engine.call('generate', ask(long));
    expect(textOf(again.chunks)).toBe('Hello world.');
    // Whole chunks that were read before the cancel are not read again.
    expect((again.data as { reusedTokens: number }).reusedTokens % 128).toBe(0);
    expect((again.data as { reusedTokens: number }).reusedTokens).toBeGreaterThan(0);
  });

  it('cancel in load gives the memory back and answers CANCELLED', async () => {
    using fake = fakeLlama({ LOAD_MS: 2000 });
    await using engine = startEngine(fake.env);
    const end = await engine.call('load', loadParams(fake.model), () => engine.cancelLast());
    expect(end.error?.code).toBe('CANCELLED');
    fake.set({});
    expect((await engine.call('load', loadParams(fake.model))).error).toBeUndefined();
  });

  it('ABI-06: a slow prompt reports inside a chunk, so that it differs from a hang', async () => {
    verifies('ABI-06');
    using fake = fakeLlama({ PREFILL_MS: 2500 });
    await using engine = startEngine(fake.env);
    await engine.call('load', loadParams(fake.model));
    const end = await engine.call('generate', ask('short'));
    const prefill = end.chunks.filter((chunk) => (chunk as { kind: string }).kind === 'prefill');
    // One chunk alone: a start, an end, and news between although no batch ended.
    expect(fake.calls().filter((line) => line.includes('prefill'))).toHaveLength(1);
    expect(prefill.length).toBeGreaterThanOrEqual(5);
  });

  it('ABI-04: the abort question is asked in prefill and switched off for decode', async () => {
    verifies('ABI-04');
    using fake = fakeLlama();
    await using engine = startEngine(fake.env);
    await engine.call('load', loadParams(fake.model));
    await engine.call('generate', ask('x'));
    const decodes = fake.calls().filter((line) => line.startsWith('llama_decode'));
    expect(decodes.filter((line) => line.endsWith('prefill')).every((line) => line.includes('abortable=1'))).toBe(true);
    expect(decodes.filter((line) => line.endsWith('token')).length).toBeGreaterThan(0);
    expect(decodes.filter((line) => line.endsWith('token')).every((line) => line.includes('abortable=0'))).toBe(true);
  });
});

describe('what reaches the library', () => {
  it('ABI-08: the chain is penalties, top-k, top-p, min-p, temperature, choice', async () => {
    verifies('ABI-08');
    using fake = fakeLlama();
    await using engine = startEngine(fake.env);
    await engine.call('load', loadParams(fake.model));
    const sampling = { temperature: 0.5, topK: 20, topP: 0.8, minP: 0.1, repeatPenalty: 1.1, penaltyLastN: 32, seed: 9 };
    await engine.call('generate', ask('x', { sampling }));
    const chain = fake.calls().filter((line) => /^(grammar|penalties|top_k|top_p|min_p|temp|dist|greedy)/.test(line));
    expect(chain.map((line) => line.split(' ')[0])).toEqual(['penalties', 'top_k', 'top_p', 'min_p', 'temp', 'dist']);
    expect(chain.at(-1)).toBe('dist 9');
  });

  it('RT-03: one output, no flash attention, and threads, context and batch as asked', async () => {
    verifies('RT-03');
    using fake = fakeLlama({ TRAINED: 1000 });
    await using engine = startEngine(fake.env);
    const { data } = await engine.call('load', { path: fake.model, contextSize: 4096, threads: 3, prefillChunk: 64 });
    // Beyond the trained length the library only warns; it rounds up to 256 by itself.
    expect(data).toMatchObject({ contextSize: 1024, trainedContext: 1000 });
    expect(fake.calls()).toContain('llama_init_from_model n_ctx=1000 n_batch=64 n_ubatch=64 threads=3 flash=0 outputs=1');
  });

  it('a memory that cannot be cut is cleared, and nothing counts as reused', async () => {
    using fake = fakeLlama({ NO_CUT: 1 });
    await using engine = startEngine(fake.env);
    await engine.call('load', loadParams(fake.model));
    await engine.call('generate', ask('one'));
    const second = await engine.call('generate', ask('one other'));
    expect(second.data).toMatchObject({ reusedTokens: 0 });
    expect(textOf(second.chunks)).toBe('Hello world.');
    expect(fake.calls()).toContain('llama_memory_clear');
  });

  it('a window that has moved is not reused', async () => {
    using fake = fakeLlama({ POS_MIN: 12 });
    await using engine = startEngine(fake.env);
    await engine.call('load', loadParams(fake.model));
    await engine.call('generate', ask('one'));
    expect((await engine.call('generate', ask('one other'))).data).toMatchObject({ reusedTokens: 0 });
  });
});

describe('text', () => {
  it('BC-11: half a character waits, a lone byte becomes U+FFFD, the end is normal', async () => {
    verifies('BC-11', 'GE-06');
    const emoji = Buffer.from('🦉');
    using fake = fakeLlama({ PIECES: pieces('a', emoji.subarray(0, 2), emoji.subarray(2), 'b', Uint8Array.of(0xc3)) });
    await using engine = startEngine(fake.env);
    await engine.call('load', loadParams(fake.model));
    const end = await engine.call('generate', ask('x'));
    expect(textOf(end.chunks)).toBe('a🦉b\uFFFD');
    expect(end.data).toMatchObject({ stopReason: 'end', outputTokens: 5 });
    expect((await engine.call('generate', ask('x'))).data).toMatchObject({ stopReason: 'end' });
  });

  it('BC-10: a stop text over four tokens shows nothing of itself', async () => {
    verifies('BC-10');
    using fake = fakeLlama({ PIECES: pieces('The ', 'EN', 'D', ' and ', 'EN', 'D', 'OF', 'X', ' never') });
    await using engine = startEngine(fake.env);
    await engine.call('load', loadParams(fake.model));
    const end = await engine.call('generate', ask('x', { stop: ['ENDOFX'] }));
    expect(textOf(end.chunks)).toBe('The END and ');
    expect(end.data).toMatchObject({ stopReason: 'stop' });
  });

  it('BC-10: an end that only began like a stop is released', async () => {
    verifies('BC-10');
    using fake = fakeLlama({ PIECES: pieces('A', 'END', 'OF') });
    await using engine = startEngine(fake.env);
    await engine.call('load', loadParams(fake.model));
    expect(textOf((await engine.call('generate', ask('x', { stop: ['ENDOFX'] }))).chunks)).toBe('AENDOF');
  });

  it('ABI-05: the first token goes out alone, later steps hold up to 32 tokens and 1,024 bytes', async () => {
    verifies('ABI-05');
    using fake = fakeLlama({ LOOP: 1, PIECES: pieces('x'.repeat(100)) });
    await using engine = startEngine(fake.env);
    await engine.call('load', loadParams(fake.model));
    const end = await engine.call('generate', ask('x', { maxTokens: 200 }));
    const steps = (end.chunks as { kind: string; tokens: number; text: string }[]).filter((chunk) => chunk.kind === 'text');
    expect(steps[0]?.tokens).toBe(1);
    expect(Math.max(...steps.map((step) => step.text.length))).toBeLessThanOrEqual(1024);
    expect(steps.reduce((sum, step) => sum + step.tokens, 0)).toBe(200);
    expect(textOf(end.chunks)).toBe('x'.repeat(20_000));
  });

  it('the context being full ends a reply with `context`, and a prompt over it is CONTEXT_OVERFLOW with counts', async () => {
    verifies('BC-12');
    using fake = fakeLlama({ LOOP: 1, PIECES: pieces('a'), TRAINED: 256 });
    await using engine = startEngine(fake.env);
    await engine.call('load', loadParams(fake.model));
    const end = await engine.call('generate', ask('x', { maxTokens: 1000 }));
    const { promptTokens, outputTokens } = end.data as { promptTokens: number; outputTokens: number };
    expect(end.data).toMatchObject({ stopReason: 'context' });
    // The last token is said but has no place left to be evaluated.
    expect(promptTokens + outputTokens).toBe(257);
    const over = await engine.call('generate', ask('x'.repeat(300)));
    const { data } = await engine.call('count', { messages: [{ role: 'user', content: 'x'.repeat(300) }] });
    expect(over.error).toEqual({ code: 'CONTEXT_OVERFLOW', data });
    expect(data).toMatchObject({ contextSize: 256 });
  });

  it('a file without a template is continued as a plain transcript that ends at the next speaker', async () => {
    using fake = fakeLlama({ TEMPLATE: 'none', PIECES: pieces(' Fine.', '\n', 'User', ':', ' and you?') });
    await using engine = startEngine(fake.env);
    expect((await engine.call('load', loadParams(fake.model))).data).toMatchObject({ hasTemplate: false });
    expect(textOf((await engine.call('generate', ask('How are you?'))).chunks)).toBe(' Fine.');
  });
});

it('RT-09: a trial loads, writes at most eight tokens and unloads', async () => {
  using fake = fakeLlama({ LOOP: 1, PIECES: pieces('a') });
  await using engine = startEngine(fake.env, { key: 'probe' });
  const { data } = await engine.call('trial', { path: fake.model, threads: 1 });
  expect(data).toMatchObject({ description: 'fake 42B', tokens: 8 });
  expect(fake.calls().slice(-2)).toEqual(['llama_free', 'llama_model_free']);
});
