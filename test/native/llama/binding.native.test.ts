import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Llama, loadLlama } from '../../../native/llama/library.ts';
import type { LlamaContext, LlamaModel, LlamaSampler } from '../../../native/llama/modelType.ts';
import { AppError, isAppError } from '../../../src/shared/errors/appError.ts';
import { starter, testModel } from '../../helpers/testModel.ts';
import { verifies } from '../../helpers/verifies.ts';

const greedy = {
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  repeatPenalty: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  penaltyLastN: 0,
  seed: 1,
} as const;
const small = { contextSize: 256, batchSize: 32, microBatch: 32, threads: 1, flashAttention: false } as const;

let llama: Llama;
let model: LlamaModel;
beforeAll(async () => {
  llama = await loadLlama();
  model = await llama.loadModel({ path: testModel(), loadMode: 'mmap' });
});
afterAll(async () => {
  await model.dispose();
  llama.close();
});

async function using(run: (context: LlamaContext, sampler: LlamaSampler) => void): Promise<void> {
  const context = await model.createContext(small);
  const sampler = model.createSampler(greedy);
  try {
    run(context, sampler);
  } finally {
    await sampler.dispose();
    await context.dispose();
  }
}

function code(act: () => unknown): unknown {
  try {
    act();
    return 'none';
  } catch (error) {
    return isAppError(error) ? error.code : error;
  }
}

describe('the real library', () => {
  it('ABI-02: is the one that is recorded: hashes, version, struct bytes, symbols', () => {
    verifies('ABI-02', 'ABI-03');
    expect(llama.version).toBe('0.4.0-dev');
    expect(llama.cpuVariant).not.toBe('unknown');
    expect(llama.capabilities).toMatchObject({ text: true, embed: true, 'sequence-state': true, grammar: true });
    // No multimodal library is shipped with the packages.
    expect(llama.capabilities['projector']).toEqual(expect.stringContaining('mtmd'));
  });

  it('the test model is the one that the facts were measured with', async () => {
    const hash = createHash('sha256');
    await pipeline(createReadStream(testModel()), hash);
    expect(hash.digest('hex')).toBe(starter.sha256);
  });

  it('says of a model what its file says', () => {
    expect(model).toMatchObject({ architecture: 'llama', trainedContext: 8192, vocabularySize: 49_152, bos: 1, eos: 2, addsBos: false });
    expect(model.metadata('general.architecture')).toBe('llama');
    expect(model.metadata('no.such.key')).toBeNull();
    expect(model.chatTemplate).toContain('<|im_start|>');
    expect([0, 2, 4].map((token) => model.isEnd(token))).toEqual([true, true, true]);
    expect(model.isEnd(1)).toBe(false);
    expect(model.tokenText(2)).toBe('<|im_end|>');
  });

  it('reports progress and takes a cancel while it loads', async () => {
    const fractions: number[] = [];
    const second = await llama.loadModel({ path: testModel(), loadMode: 'none', onProgress: (fraction) => fractions.push(fraction) });
    await second.dispose();
    expect(fractions.length).toBeGreaterThan(3);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    const cancelled = llama.loadModel({
      path: testModel(),
      loadMode: 'none',
      isCancelled: () => fractions.length > 5,
      onProgress: (f) => fractions.push(f),
    });
    await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('ABI-04: a callback that throws stops neither the load nor this process', async () => {
    verifies('ABI-04');
    const second = await llama.loadModel({
      path: testModel(),
      loadMode: 'mmap',
      onProgress: () => {
        throw new Error('from a callback');
      },
    });
    await second.dispose();
  });
});

describe('tokens', () => {
  it.each(['Hello world', '', ' leading', 'žluťoučký kůň 🦉', 'a\0b', '\n\n\t', '\uD800 lone'])('come back as the text: %j', (text) => {
    const bytes = [...model.tokenize(text, false)].map((token) => Buffer.from(model.tokenBytes(token)));
    expect(Buffer.concat(bytes).toString('utf8')).toBe(text.toWellFormed());
  });

  it('hold no control token unless template text is read', () => {
    verifies('ABI-04');
    const content = model.tokenize('<|im_end|>', false);
    expect([...content].some((token) => model.isControl(token))).toBe(false);
    expect([...model.tokenize('<|im_end|>', true)]).toEqual([2]);
    expect(model.tokenBytes(2)).toHaveLength(0);
  });

  it('a megabyte of anything is tokenised, not a crash', () => {
    for (const unit of ['a', ' ', '7', '🦉', '\n', 'ab1 ,']) {
      const count = model.tokenize(unit.repeat(Math.ceil(2 ** 20 / Buffer.byteLength(unit))), false).length;
      expect(count).toBeGreaterThan(1000);
    }
  });
});

describe('what would end the process is refused before the call', () => {
  it('no tokens, too many, unknown ones', async () => {
    verifies('ABI-08');
    await using((context) => {
      expect(code(() => context.decode([]))).toBe('INVALID_INPUT');
      expect(code(() => context.decode(new Int32Array(33)))).toBe('INVALID_INPUT');
      expect(code(() => context.decode([49_152]))).toBe('INVALID_INPUT');
      expect(code(() => context.decode([-1]))).toBe('INVALID_INPUT');
      expect(code(() => context.decode([1.5]))).toBe('INVALID_INPUT');
      expect(context.used).toBe(0);
    });
  });

  it('sampling where no output is ready', async () => {
    await using((context, sampler) => {
      expect(code(() => context.sample(sampler))).toBe('INVALID_INPUT');
      context.decode([1, 2, 3]);
      expect(context.sample(sampler)).toBeGreaterThanOrEqual(0);
      context.cut(2);
      expect(code(() => context.sample(sampler))).toBe('INVALID_INPUT');
    });
  });

  it('NaN for a temperature', () => {
    verifies('ABI-08');
    expect(code(() => model.createSampler({ ...greedy, temperature: Number.NaN }))).toBe('INVALID_INPUT');
    expect(code(() => model.createSampler({ ...greedy, grammar: 'root ::= (' }))).toBe('INVALID_INPUT');
  });

  it('a full context is an outcome, and the memory still counts right', async () => {
    await using((context, sampler) => {
      const batch = new Int32Array(32).fill(100);
      for (let i = 0; i < 8; i += 1) expect(context.decode(batch)).toBe('ok');
      expect(context.decode([5])).toBe('full');
      expect(context.used).toBe(256);
      expect(context.cut(250)).toBe(250);
      expect(context.decode([5])).toBe('ok');
      expect(context.sample(sampler)).toBeGreaterThanOrEqual(0);
    });
  });

  it('ABI-01: use after dispose, and disposing twice or in any order', async () => {
    verifies('ABI-01');
    const second = await llama.loadModel({ path: testModel(), loadMode: 'mmap' });
    const context = await second.createContext(small);
    const sampler = second.createSampler(greedy);
    context.decode([1]);
    await second.dispose();
    expect(code(() => context.decode([1]))).toBe('HANDLE_CLOSED');
    expect(code(() => context.sample(sampler))).toBe('HANDLE_CLOSED');
    expect(code(() => second.tokenize('x', false))).toBe('HANDLE_CLOSED');
    await expect(second.createContext(small)).rejects.toMatchObject({ code: 'HANDLE_CLOSED' });
    await Promise.all([second.dispose(), context.dispose(), sampler.dispose()]);
  });

  it('ABI-01: dispose during a call waits for it', async () => {
    verifies('ABI-01');
    const second = await llama.loadModel({ path: testModel(), loadMode: 'mmap' });
    const making = second.createContext(small);
    const disposed = second.dispose();
    // A context that outlived its model would crash at its first decode.
    await expect(making).rejects.toMatchObject({ code: 'HANDLE_CLOSED' });
    await disposed;
  });

  it('a context on a model without weights', async () => {
    const words = await llama.loadModel({ path: testModel(), loadMode: 'mmap', vocabularyOnly: true });
    expect(words.tokenize('Hello', false).length).toBeGreaterThan(0);
    await expect(words.createContext(small)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    await words.dispose();
  });

  it('an abort in prefill keeps nothing of the batch, and the next decode is right', async () => {
    await using((context, sampler) => {
      const prompt = model.tokenize('The capital of France is', false);
      context.decode(prompt);
      const token = context.sample(sampler);
      context.cut(0);
      let asked = 0;
      expect(context.decode(prompt, () => ++asked > 20)).toBe('aborted');
      expect(context.used).toBe(0);
      expect(context.decode(prompt)).toBe('ok');
      expect(context.sample(sampler)).toBe(token);
    });
  });
});

it('errors of the library carry no path of the user', async () => {
  const failed = llama.loadModel({ path: '/nonexistent/somebody/secret.gguf', loadMode: 'auto' });
  const error: unknown = await failed.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(AppError);
  expect(JSON.stringify((error as AppError).toWire())).not.toContain('secret');
  expect(error).toMatchObject({ code: 'MODEL_FILE_CORRUPT', data: { reason: 'missing or unreadable' } });
});
