import { describe, expect, it } from 'vitest';
import type { LlamaContext, LlamaSampler } from '../../../native/llama/modelType.ts';
import { createGeneration } from '../../../src/engine/workers/generation.ts';
import { prefill } from '../../../src/engine/workers/prefill.ts';
import { createSequence } from '../../../src/engine/workers/sequence.ts';
import { isAppError } from '../../../src/shared/errors/appError.ts';
import { verifies } from '../../helpers/verifies.ts';

/** A context that only counts. */
function counting(size: number, options: { cuts?: boolean } = {}) {
  const batches: number[][] = [];
  let used = 0;
  const context: LlamaContext = {
    size,
    batchSize: 32,
    get used() {
      return used;
    },
    decode(tokens, shouldAbort) {
      if (used + tokens.length > size) return 'full';
      if (shouldAbort?.() === true) return 'aborted';
      used += tokens.length;
      batches.push(Array.from(tokens));
      return 'ok';
    },
    sample: () => 7,
    cut(count) {
      used = options.cuts === false ? 0 : Math.min(used, count);
      return used;
    },
    dispose: () => Promise.resolve(),
  };
  return { context, batches };
}

const steady = { isCancelled: () => false, nowMs: () => 0 };
const sampler = {} as LlamaSampler;

describe('prefix reuse', () => {
  it('evaluates what is new, and at least one token', () => {
    const { context, batches } = counting(64);
    const sequence = createSequence(context);
    const read = (...prompt: number[]) => prefill(sequence, Int32Array.from(prompt), 64, 4, steady, () => undefined).reused;
    expect(read(1, 2, 3, 4, 5)).toBe(0);
    expect(read(1, 2, 3, 4, 5)).toBe(4);
    expect(read(1, 2, 3, 4, 5, 6)).toBe(5);
    expect(read(1, 2, 9)).toBe(2);
    expect(read(8)).toBe(0);
    expect(batches).toEqual([[1, 2, 3, 4], [5], [5], [6], [9], [8]]);
  });

  it('counts what the memory kept, not what it was asked to keep', () => {
    const { context } = counting(64, { cuts: false });
    const sequence = createSequence(context);
    prefill(sequence, Int32Array.of(1, 2, 3), 64, 4, steady, () => undefined);
    expect(prefill(sequence, Int32Array.of(1, 2, 9), 64, 4, steady, () => undefined).reused).toBe(0);
    // Continuing needs no cut.
    expect(prefill(sequence, Int32Array.of(1, 2, 9, 4), 64, 4, steady, () => undefined).reused).toBe(3);
  });

  it('leaves a place for the reply: a prompt as long as the context overflows with counts', () => {
    verifies('BC-12');
    const { context } = counting(4);
    let error: unknown;
    try {
      prefill(createSequence(context), Int32Array.of(1, 2, 3, 4), 4, 4, steady, () => undefined);
    } catch (caught) {
      error = caught;
    }
    expect(isAppError(error, 'CONTEXT_OVERFLOW') && error.data).toEqual({ tokens: 4, contextSize: 4 });
  });

  it('reports a beginning, an end, and nothing twice', () => {
    const { context } = counting(64);
    const seen: number[] = [];
    prefill(
      createSequence(context),
      Int32Array.from({ length: 12 }, (_, i) => i),
      64,
      4,
      steady,
      ({ done }) => seen.push(done),
    );
    expect(seen).toEqual([0, 12]);
  });
});

describe('a reply in steps', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  function generation(piece: string, more: { maxTokens?: number; nowMs?: () => number; size?: number; stops?: string[] } = {}) {
    const { context, batches } = counting(more.size ?? 1000);
    const sequence = createSequence(context);
    sequence.append(Int32Array.of(1));
    const reply = createGeneration({
      model: { isEnd: () => false, tokenBytes: () => bytes(piece) },
      context,
      sequence,
      sampler,
      stops: more.stops ?? [],
      maxTokens: more.maxTokens ?? 1000,
      control: { isCancelled: () => false, nowMs: more.nowMs ?? (() => 0) },
    });
    return { reply, batches };
  }
  const limits = { maxTokens: 32, maxBytes: 1024, maxMs: 30 };

  it('ABI-05: one token first, then up to the token limit', () => {
    verifies('ABI-05');
    const { reply } = generation('ab', { maxTokens: 40 });
    expect([1, 2, 3].map(() => reply.next(limits).tokens)).toEqual([1, 32, 7]);
    expect(reply.next(limits)).toMatchObject({ tokens: 0, text: '', done: true, stopReason: 'length' });
  });

  it('ABI-05: up to the byte limit, and what does not fit comes with the next step', () => {
    verifies('ABI-05');
    const { reply } = generation('x'.repeat(400), { maxTokens: 4 });
    const steps = [1, 2, 3].map(() => reply.next(limits));
    expect(steps.map((step) => [step.tokens, step.text.length, step.done])).toEqual([
      [1, 400, false],
      [2, 800, false],
      [1, 400, true],
    ]);
  });

  it('ABI-05: up to the time limit, so that a slow model gives a step per token', () => {
    verifies('ABI-05');
    let now = 0;
    const { reply } = generation('a', { nowMs: () => (now += 20), maxTokens: 10 });
    reply.next(limits);
    expect(reply.next(limits).tokens).toBeLessThanOrEqual(2);
  });

  it('does not evaluate the token that ended the reply', () => {
    const { reply, batches } = generation('a', { maxTokens: 3 });
    while (!reply.next(limits).done);
    // The prompt's token and two of three: the third's evaluation would be for nothing.
    expect(batches).toEqual([[1], [7], [7]]);
  });

  it('ends with `context` when the memory is full, keeping what was said', () => {
    const { reply } = generation('a', { size: 4 });
    let text = '';
    let step = reply.next(limits);
    text += step.text;
    while (!step.done) {
      step = reply.next(limits);
      text += step.text;
    }
    expect(step.stopReason).toBe('context');
    expect(text).toBe('aaaa');
  });
});
