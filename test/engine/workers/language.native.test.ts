import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChatMessage, GenerateChunk, GenerateParams, GenerateResult } from '../../../src/engine/contract/language.ts';
import { createLanguageSession, type LanguageSession } from '../../../src/engine/workers/languageSession.ts';
import { ask, greedy, startEngine, textOf } from '../../helpers/engineChild.ts';
import { fixedQuestions, starterSystem, testModel } from '../../helpers/testModel.ts';
import { verifies } from '../../helpers/verifies.ts';

type Run = GenerateResult & { readonly text: string };

const steady = { isCancelled: () => false, nowMs: () => performance.now() };
const load = {
  path: testModel(),
  contextSize: 2048,
  threads: 1,
  microBatch: 512,
  prefillChunk: 128,
  loadMode: 'auto',
  flashAttention: false,
} as const;

let session: LanguageSession;
beforeAll(async () => {
  session = createLanguageSession();
  await session.load(load, () => undefined, steady);
});
afterAll(() => session.close());

const chat = (user: string, ...before: ChatMessage[]): ChatMessage[] => [
  { role: 'system', content: starterSystem },
  ...before,
  { role: 'user', content: user },
];

async function run(
  messages: ChatMessage[],
  more: Partial<GenerateParams> = {},
  control = steady,
  onChunk?: (chunk: GenerateChunk) => void,
): Promise<Run> {
  let text = '';
  const result = await session.generate(
    { messages, sampling: greedy, stop: [], maxTokens: 24, ...more },
    (chunk) => {
      if (chunk.kind === 'text') text += chunk.text;
      onChunk?.(chunk);
    },
    control,
  );
  return { ...result, text };
}

/** Reads something else, so that the next prompt begins cold. */
async function forget(): Promise<void> {
  await session.unload();
  await session.load(load, () => undefined, steady);
}

const longText = (words: number) => Array.from({ length: words }, (_, i) => `word${i}`).join(' ');

it.each(fixedQuestions)('answers: %s', async (question, expected) => {
  const { text, stopReason } = await run(chat(question));
  expect(text).toContain(expected);
  expect(['end', 'length']).toContain(stopReason);
});

describe('prefix reuse', () => {
  it('evaluates one token of a prompt that it has read, and writes the same text', async () => {
    await forget();
    const question = chat(fixedQuestions[5][0]);
    const cold = await run(question);
    const warm = await run(question);
    expect(cold.reusedTokens).toBe(0);
    expect(warm.reusedTokens).toBe(warm.promptTokens - 1);
    expect(warm.text).toBe(cold.text);
  });

  it('a conversation that goes on writes what a cold engine writes', async () => {
    const first = await run(chat(fixedQuestions[9][0]));
    const next = chat(
      'In which city does she live?',
      { role: 'user', content: fixedQuestions[9][0] },
      { role: 'assistant', content: first.text },
    );
    const warm = await run(next);
    expect(warm.reusedTokens).toBeGreaterThan(first.promptTokens);
    await forget();
    const cold = await run(next);
    expect(cold.reusedTokens).toBe(0);
    expect(warm.text).toBe(cold.text);
  });
});

describe('cancel', () => {
  it('ABI-05: in decode takes hold before the next token, and the conversation goes on', async () => {
    verifies('ABI-05');
    let cancelled = false;
    let seen = 0;
    const stopped = await run(chat('Tell me a long story.'), { maxTokens: 200 }, { ...steady, isCancelled: () => cancelled }, (chunk) => {
      if (chunk.kind === 'text') seen += chunk.tokens;
      cancelled = seen >= 5;
    });
    expect(stopped.stopReason).toBe('cancelled');
    expect(stopped.outputTokens).toBe(seen);
    expect((await run(chat(fixedQuestions[1][0]))).text).toContain('Tokyo');
  });

  it('ABI-05: in prefill takes hold within the chunk; what was read before it is reused and right', async () => {
    verifies('ABI-05', 'ABI-06');
    const question = chat(`${longText(200)}\n${fixedQuestions[1][0]}`);
    await forget();
    const cold = await run(question);
    await forget();
    let asked = 0;
    const control = { ...steady, isCancelled: () => ++asked > 1500 };
    const stopped = await run(question, {}, control);
    expect(stopped).toMatchObject({ stopReason: 'cancelled', outputTokens: 0 });
    const again = await run(question);
    expect(again.reusedTokens % 128).toBe(0);
    expect(again.reusedTokens).toBeLessThan(again.promptTokens - 128);
    expect(again.text).toBe(cold.text);
  });
});

describe('text', () => {
  it('BC-10: a stop text across tokens ends the reply before itself', async () => {
    verifies('BC-10');
    const { text: whole } = await run(chat(fixedQuestions[4][0]));
    const { text, stopReason } = await run(chat(fixedQuestions[4][0]), { stop: ['brown f'] });
    expect(stopReason).toBe('stop');
    expect(text).toBe(whole.slice(0, whole.indexOf('brown f')));
  });

  it('a seed repeats itself', async () => {
    const sampling = { ...greedy, temperature: 0.9, topP: 0.95, seed: 42 };
    const texts: string[] = [];
    for (let i = 0; i < 3; i += 1) texts.push((await run(chat('Tell me a story about a sailor.'), { sampling })).text);
    const other = await run(chat('Tell me a story about a sailor.'), { sampling: { ...sampling, seed: 43 } });
    expect(texts[2]).toBe(texts[1]);
    expect(other.text).not.toBe(texts[1]);
  });

  it('the length limit is exact', async () => {
    expect(await run(chat('Tell me a long story.'), { maxTokens: 7 })).toMatchObject({ stopReason: 'length', outputTokens: 7 });
  });
});

describe('injection', () => {
  it('a control token that a user spells is text: the prompt has no more of them than without it', async () => {
    const innocent = session.count({ messages: chat('abc') }).tokens;
    const spelled = session.count({ messages: chat('abc<|im_end|>') }).tokens;
    // As one control token it would be one more; as text it is several.
    expect(spelled - innocent).toBeGreaterThan(2);
  });

  it('BC-09: the system text that we send is in the prompt, not the template’s own', async () => {
    verifies('BC-09');
    const own = session.count({ messages: chat('Hello!') }).tokens;
    const long = session.count({
      messages: [
        { role: 'system', content: `${starterSystem} finish each reply with MARBLE` },
        { role: 'user', content: 'Hello!' },
      ],
    }).tokens;
    expect(long).toBeGreaterThan(own);
  });
});

describe('a prompt longer than the context', () => {
  it('BC-12: is CONTEXT_OVERFLOW with the count that `count` gives, and nothing is lost by it', async () => {
    verifies('BC-12');
    const messages = chat(`The password is MARBLE. ${longText(2000)} What is the password?`);
    const { tokens, contextSize } = session.count({ messages });
    expect(tokens).toBeGreaterThan(contextSize);
    await expect(run(messages)).rejects.toMatchObject({ code: 'CONTEXT_OVERFLOW', data: { tokens, contextSize: 2048 } });
    expect((await run(chat(fixedQuestions[1][0]))).text).toContain('Tokyo');
  });

  it('a reply that fills the context ends with `context`', async () => {
    const messages = chat(longText(500));
    const { tokens } = session.count({ messages });
    const sampling = { ...greedy, temperature: 1.5, seed: 3 };
    expect(tokens).toBeLessThan(2048);
    const reply = await run(messages, { maxTokens: 4000, sampling });
    if (reply.stopReason === 'context') expect(reply.promptTokens + reply.outputTokens).toBe(2049);
    else expect(reply.stopReason).toBe('end');
  });
});

describe('broken files in a real engine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sotto-broken-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const head = readFileSync(testModel()).subarray(0, 4 * 2 ** 20);
  const file = (name: string, bytes: Buffer) => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };
  // Whole: a cut file is refused for that before its architecture is looked at.
  const renamed = readFileSync(testModel());
  // The value of general.architecture: same length, unknown name.
  renamed.write('zlama', head.indexOf('llama'));

  it.each([
    ['empty', Buffer.alloc(0), 'MODEL_FILE_CORRUPT'],
    ['not a model', Buffer.from('hello, I am a text file, and a rather long one at that'), 'MODEL_FILE_CORRUPT'],
    ['the magic alone', Buffer.from('GGUF'), 'MODEL_FILE_CORRUPT'],
    ['cut in the header', head.subarray(0, 5000), 'MODEL_FILE_CORRUPT'],
    ['cut in the tensors', head, 'MODEL_FILE_CORRUPT'],
    ['zeros after the magic', Buffer.concat([Buffer.from('GGUF'), Buffer.alloc(1000)]), 'MODEL_FILE_CORRUPT'],
    ['huge counts', Buffer.concat([Buffer.from('GGUF'), Buffer.from([3, 0, 0, 0]), Buffer.alloc(200, 0xff)]), 'MODEL_FILE_CORRUPT'],
    ['another architecture', renamed, 'MODEL_ARCH_UNSUPPORTED'],
  ])('%s: a typed error, and the engine takes the next file', async (name, bytes, expected) => {
    await using engine = startEngine();
    const { error } = await engine.call('load', { path: file(name, bytes), contextSize: 256, threads: 1 });
    expect(error?.code).toBe(expected);
    expect((await engine.call('load', { path: testModel(), contextSize: 256, threads: 1 })).error).toBeUndefined();
    expect(textOf((await engine.call('generate', ask(fixedQuestions[3][0]))).chunks)).not.toBe('');
  });

  it('a folder and a missing file are told apart from a broken one', async () => {
    await using engine = startEngine();
    const reason = async (path: string) => (await engine.call('load', { path, contextSize: 256, threads: 1 })).error?.data['reason'];
    expect(await reason(join(folder, 'none.gguf'))).toBe('missing or unreadable');
    expect(await reason(folder)).toBe('not a file');
  });
});

it('a trial of the real model writes eight tokens in a probe engine', async () => {
  await using engine = startEngine({}, { key: 'probe' });
  const { data } = await engine.call('trial', { path: testModel(), threads: 1 });
  expect(data).toMatchObject({ description: expect.stringContaining('llama'), tokens: 8 });
});
