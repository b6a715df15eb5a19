import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ask, type EngineChild, GENERATION, loadParams, startEngine, textOf } from '../../helpers/engineChild.ts';
import { fakeLlama, pieces } from '../../helpers/fakeLlama.ts';
import { verifies } from '../../helpers/verifies.ts';

async function loaded(engine: EngineChild, model: string): Promise<void> {
  const { error } = await engine.call('load', loadParams(model));
  expect(error).toBeUndefined();
}

const deaths = [
  { how: 'segv', exit: { code: null, signal: 'SIGSEGV' } },
  { how: 'abort', exit: { code: null, signal: 'SIGABRT' } },
  { how: 'exit', exit: { code: 0, signal: null } },
] as const;

describe.each(deaths)('RB-29: a library that ends by $how', ({ how, exit }) => {
  it.each(['open', 'load', 'context'])('in %s ends the engine, not its parent, and no goodbye is said', async (place) => {
    verifies('RB-29');
    using fake = fakeLlama({ CRASH_AT: place, CRASH_HOW: how });
    await using engine = startEngine(fake.env);
    const end = await engine.call('load', loadParams(fake.model));
    expect(end.gone).toBe(true);
    expect(await engine.exit).toEqual(exit);
    expect(engine.frames.some((frame) => frame.k === 'goodbye')).toBe(false);
  });

  it('mid-token leaves what was said before it', async () => {
    verifies('RB-29');
    using fake = fakeLlama({ LOOP: 1, PIECES: pieces('a'), CRASH_AT: 'token:5', CRASH_HOW: how });
    await using engine = startEngine(fake.env);
    await loaded(engine, fake.model);
    const end = await engine.call('generate', ask('x', { maxTokens: 100 }));
    expect(end.gone).toBe(true);
    expect(textOf(end.chunks)).toMatch(/^a{1,5}$/);
    expect(await engine.exit).toEqual(exit);
  });

  it('at unload, on the way out, never says goodbye', async () => {
    verifies('RB-29');
    using fake = fakeLlama({ CRASH_AT: 'unload', CRASH_HOW: how });
    await using engine = startEngine(fake.env);
    await loaded(engine, fake.model);
    engine.post({ k: 'stop', generation: GENERATION });
    expect(await engine.exit).toEqual(exit);
    // Exit code 0 alone proves nothing: the missing goodbye is the evidence.
    expect(engine.frames.some((frame) => frame.k === 'goodbye')).toBe(false);
  });
});

describe('RB-30: a library that never returns', () => {
  it.each([
    ['load', 'load'],
    ['context', 'load'],
    ['prefill', 'generate'],
    ['token:2', 'generate'],
  ])('in %s leaves the engine answering pings, and a kill ends it', async (place, method) => {
    verifies('RB-30');
    using fake = fakeLlama({ LOOP: 1, PIECES: pieces('a'), HANG_AT: place });
    await using engine = startEngine(fake.env);
    if (method === 'generate') await loaded(engine, fake.model);
    const call = method === 'load' ? engine.call('load', loadParams(fake.model)) : engine.call('generate', ask('x', { maxTokens: 50 }));
    await engine.until((frame) => frame.k === 'busy' && frame.label === method);
    engine.post({ k: 'ping', generation: GENERATION, n: 41 });
    expect(await engine.until((frame) => frame.k === 'pong')).toEqual({ k: 'pong', generation: GENERATION, n: 41 });
    engine.process.kill('SIGKILL');
    expect((await call).gone).toBe(true);
    expect(await engine.exit).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('does not keep the engine alive when its parent is gone', async () => {
    verifies('RB-30');
    using fake = fakeLlama({ HANG_AT: 'load' });
    await using engine = startEngine(fake.env);
    void engine.call('load', loadParams(fake.model));
    await engine.until((frame) => frame.k === 'busy');
    engine.process.disconnect();
    // An orderly exit would wait for the worker, which is inside the call for ever.
    expect(await engine.exit).toEqual({ code: null, signal: 'SIGKILL' });
  });
});

describe('memory', () => {
  it('RB-30: what a library leaks goes back with its process', async () => {
    verifies('RB-30');
    using fake = fakeLlama({ LEAK_MB: 200 });
    await using engine = startEngine(fake.env);
    await loaded(engine, fake.model);
    const { pid } = engine.process;
    const rssMb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
    expect(rssMb).toBeGreaterThan(200);
    await engine[Symbol.asyncDispose]();
    expect(() => readFileSync(`/proc/${pid}/status`)).toThrow();
  });

  it.each([
    ['load', { OOM_AT: 'load' }],
    ['context', { OOM_AT: 'context' }],
  ])('in %s: no memory is OUT_OF_MEMORY and the engine lives', async (stage, switches) => {
    verifies('ABI-09');
    using fake = fakeLlama(switches);
    await using engine = startEngine(fake.env);
    expect((await engine.call('load', loadParams(fake.model))).error).toEqual({ code: 'OUT_OF_MEMORY', data: { stage } });
    fake.set({});
    await loaded(engine, fake.model);
  });

  it.each([
    [-2, { code: 'OUT_OF_MEMORY', data: { stage: 'decode' } }],
    [-3, { code: 'ENGINE_FAULT', data: { engineKey: 'language', stage: 'decode' } }],
    [-1, { code: 'INVALID_INPUT', data: { field: 'decode', reason: 'refused by the library' } }],
  ])('a decode that answers %i is a typed error, and the next one is right', async (code, error) => {
    verifies('ABI-09');
    using fake = fakeLlama({ DECODE: code });
    await using engine = startEngine(fake.env);
    await loaded(engine, fake.model);
    expect((await engine.call('generate', ask('x'))).error).toEqual(error);
    fake.set({});
    expect(textOf((await engine.call('generate', ask('x'))).chunks)).toBe('Hello world.');
  });
});

describe('a library that lies', () => {
  it.each([
    ['version', { VERSION: '0.5.0' }, { library: 'llama', expected: '0.4.0-dev', found: '0.5.0' }],
    ['model struct', { WRONG_DEFAULTS: 'model' }, { library: 'llama: llama_model_default_params' }],
    ['context struct', { WRONG_DEFAULTS: 'context' }, { library: 'llama: llama_context_default_params' }],
  ])('ABI-02: another %s is NATIVE_ABI_MISMATCH before any other call', async (_, switches, data) => {
    verifies('ABI-02');
    using fake = fakeLlama(switches);
    await using engine = startEngine(fake.env, { key: 'probe' });
    const { error } = await engine.call('abi', {});
    expect(error).toMatchObject({ code: 'NATIVE_ABI_MISMATCH', data });
    // Not even the CPU backends were looked for: the library's code was asked nothing but its version and defaults.
    expect(fake.calls()).toEqual([]);
  });

  it('ABI-03: a missing optional family is a capability with a reason', async () => {
    verifies('ABI-03');
    using fake = fakeLlama({}, ['FAKE_NO_GRAMMAR', 'FAKE_NO_EMBED']);
    await using engine = startEngine(fake.env);
    const { data } = await engine.call('abi', {});
    expect(data).toMatchObject({
      cpuVariant: 'fake',
      capabilities: {
        text: true,
        embed: expect.stringContaining('llama_set_embeddings'),
        grammar: expect.stringContaining('llama_sampler_init_grammar'),
      },
    });
    await loaded(engine, fake.model);
    expect(textOf((await engine.call('generate', ask('x'))).chunks)).toBe('Hello world.');
  });

  it('a token outside the vocabulary is ENGINE_FAULT, not a read past the end', async () => {
    using fake = fakeLlama({ BAD_TOKEN: 1 });
    await using engine = startEngine(fake.env);
    await loaded(engine, fake.model);
    expect((await engine.call('generate', ask('x'))).error).toEqual({
      code: 'ENGINE_FAULT',
      data: { engineKey: 'language', stage: 'sample' },
    });
  });

  it.each([
    [
      { NULL_AT: 'load', ERROR: "error loading model: unknown model architecture: 'zebra'" },
      { code: 'MODEL_ARCH_UNSUPPORTED', data: { architecture: 'zebra' } },
    ],
    [
      { NULL_AT: 'load', ERROR: "tensor 'x' data is not within the file bounds, model is corrupted" },
      { code: 'MODEL_FILE_CORRUPT', data: { reason: 'truncated' } },
    ],
    [
      { NULL_AT: 'load', ERROR: 'loading model from /home/somebody/secret.gguf' },
      { code: 'MODEL_FILE_CORRUPT', data: { reason: 'refused by the library' } },
    ],
    [{ NULL_AT: 'vocab' }, { code: 'MODEL_FILE_CORRUPT', data: { reason: 'no vocabulary' } }],
    [{ NULL_AT: 'context' }, { code: 'ENGINE_FAULT', data: { engineKey: 'language', stage: 'context: refused by the library' } }],
    [{ NO_DECODER: 1 }, { code: 'UNSUPPORTED', data: { what: 'a model that does not write text' } }],
    [{ TEMPLATE: "{{ raise_exception('no') }}" }, { code: 'TEMPLATE_REJECTED', data: { reason: 'failed while rendering' } }],
  ])('NULL and refusals become what they mean: %o', async (switches, error) => {
    using fake = fakeLlama(switches);
    await using engine = startEngine(fake.env);
    expect((await engine.call('load', loadParams(fake.model))).error).toEqual(error);
  });

  it('NULL for a sampler is OUT_OF_MEMORY', async () => {
    using fake = fakeLlama({ NULL_AT: 'sampler' });
    await using engine = startEngine(fake.env);
    await loaded(engine, fake.model);
    expect((await engine.call('generate', ask('x'))).error).toEqual({ code: 'OUT_OF_MEMORY', data: { stage: 'sampler' } });
  });
});
