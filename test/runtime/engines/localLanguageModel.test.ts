import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { type Behaviour, createInlineFakeEngine, type FaultAct } from '../../helpers/fakeEngine.ts';
import { verifies } from '../../helpers/verifies.ts';
import { answerOf, fakeTime, hello, modelA, modelB, setUpEngines } from './harness.ts';

const set = (behaviour: Behaviour | readonly Behaviour[], options: Partial<Parameters<typeof setUpEngines>[1]> = {}) => {
  const starter = createInlineFakeEngine(behaviour);
  return { starter, ...setUpEngines(starter, { ...options, clock: fakeTime() }) };
};

describe('a local answer', () => {
  it('loads on demand, streams, and counts', async () => {
    const { language, engines, starter } = set({});
    expect(starter.starts).toBe(0);
    expect(engines.status.get()).toMatchObject({ state: 'idle', modelId: 'model-a' });
    const answer = await answerOf(language());
    expect(answer).toMatchObject({ text: 'One two three', finish: 'end', error: null });
    expect(answer.raw).toContainEqual({ kind: 'loading', fraction: 1 });
    expect(answer.raw).toContainEqual({ kind: 'prefill', done: 5, total: 5, reused: 2 });
    expect(engines.status.get()).toMatchObject({ state: 'ready', contextSize: 4096, cpuVariant: 'fake' });
    expect(await language().countTokens(hello, { signal: new AbortController().signal })).toBe(5);
    expect(starter.starts).toBe(1);
  });

  it('gives usage with what came from the cache, without a stream too', async () => {
    const { language } = set({});
    const result = await language().doGenerate({ prompt: hello });
    expect(result.content).toEqual([{ type: 'text', text: 'One two three' }]);
    expect(result.usage).toMatchObject({ inputTokens: { total: 5, noCache: 3, cacheRead: 2 }, outputTokens: { total: 3 } });
  });

  it('stops when its caller aborts, with the text so far', async () => {
    const { language } = set({ endless: true });
    const abort = new AbortController();
    const answer = await answerOf(language(), {
      signal: abort.signal,
      onPart: (part) => {
        if (part.type === 'text-delta') abort.abort();
      },
    });
    expect(answer.finish).toBe('cancelled');
    expect(answer.text.startsWith('One')).toBe(true);
  });

  it('stops the engine when the reader goes away', async () => {
    const { language } = set({ endless: true });
    const { stream } = await language().doStream({ prompt: hello });
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    // The next call gets its turn only when the first one has ended.
    await expect(language().countTokens(hello, { signal: new AbortController().signal })).resolves.toBe(5);
  });

  it('lets one call through at a time and refuses the tenth', async () => {
    const { language } = set({ endless: true });
    const aborts = Array.from({ length: 9 }, () => new AbortController());
    const speaks = Promise.withResolvers<void>();
    const answers = aborts.map((abort) =>
      answerOf(language(), { signal: abort.signal, onPart: (part) => part.type === 'text-delta' && speaks.resolve() }),
    );
    await speaks.promise;
    const tenth = await answerOf(language());
    expect(tenth.error).toMatchObject({ code: 'TOO_MANY_REQUESTS' });
    for (const abort of aborts) abort.abort();
    const ends = await Promise.all(answers);
    expect(ends.map((end) => end.finish)).toEqual(['cancelled', ...Array.from({ length: 8 }, () => null)]);
    expect(ends.filter((end) => end.error !== null).every((end) => end.error instanceof AppError && end.error.code === 'CANCELLED')).toBe(
      true,
    );
  });

  it('refuses a sampling value out of range before the engine hears of it', async () => {
    const { language, starter } = set({});
    await expect(language().doStream({ prompt: hello, temperature: Number.NaN })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      data: { field: 'sampling.temperature' },
    });
    expect(starter.starts).toBe(0);
  });
});

describe('loading', () => {
  it('happens once, whoever asks', async () => {
    const { language, starter } = set({});
    const loads = await Promise.all(
      Array.from({ length: 5 }, () => language().ready({ signal: new AbortController().signal, onProgress: () => {} })),
    );
    expect(loads.every((load) => load.contextSize === 4096)).toBe(true);
    expect(starter.starts).toBe(1);
  });

  it('goes on for the others when one gives up, and stops when all have', async () => {
    const { language, engines } = set({ faults: [{ on: 'load', step: 2, act: 'hang' }] });
    const one = new AbortController();
    const two = new AbortController();
    const first = expect(language().ready({ signal: one.signal, onProgress: () => {} })).rejects.toMatchObject({ code: 'CANCELLED' });
    const second = expect(language().ready({ signal: two.signal, onProgress: () => {} })).rejects.toMatchObject({ code: 'CANCELLED' });
    one.abort();
    await first;
    expect(engines.status.get().state).toBe('loading');
    two.abort();
    await second;
  });

  it('is refused when memory does not suffice, with both numbers, before an engine starts', async () => {
    const { language, engines, starter } = set(
      {},
      { freeBytes: () => 999, preflight: async () => ({ fileBytes: 1000, trainedContext: null, needBytes: () => 1000 }) },
    );
    const answer = await answerOf(language());
    expect(answer.error).toMatchObject({ code: 'MODEL_DOES_NOT_FIT', data: { needBytes: 1000, freeBytes: 999 } });
    expect(engines.status.get()).toMatchObject({ state: 'error', error: { code: 'MODEL_DOES_NOT_FIT' } });
    expect(starter.starts).toBe(0);
  });

  it('never asks for more context than the model was trained for', async () => {
    const asked: number[] = [];
    const { language } = set(
      {},
      {
        preflight: async () => ({
          fileBytes: 1,
          trainedContext: 1024,
          needBytes: (contextSize) => {
            asked.push(contextSize);
            return 1;
          },
        }),
      },
    );
    await answerOf(language());
    expect(asked).toEqual([1024]);
  });

  it('remembers a deterministic failure of the same file and library, and not of another file', async () => {
    // A second load of the same file would succeed: only the memory of the first one keeps it from being tried.
    const broken: Behaviour = {
      faults: [{ on: 'load', call: 1, act: { error: { code: 'MODEL_FILE_CORRUPT', data: { reason: 'tensor' } } } }],
    };
    const { language, slot, starter } = set([broken, {}]);
    expect((await answerOf(language())).error).toMatchObject({ code: 'MODEL_FILE_CORRUPT' });
    expect((await answerOf(language())).error).toMatchObject({ code: 'MODEL_FILE_CORRUPT' });
    expect(starter.starts).toBe(1);
    slot.choose(modelB);
    await answerOf(language());
    expect(language().modelId).toBe('model-b');
  });

  it('unloads the old model before it loads another one', async () => {
    const { language, slot, engines, starter } = set({});
    await answerOf(language());
    slot.choose(modelB);
    expect(engines.status.get()).toMatchObject({ state: 'idle', modelId: 'model-b' });
    expect((await answerOf(language())).text).toBe('One two three');
    expect(engines.status.get()).toMatchObject({ state: 'ready', modelId: 'model-b' });
    expect(starter.starts).toBe(1);
  });

  it('waits for a running answer before it unloads that model, however long the answer takes', async () => {
    const { language, slot, clock, starter } = set({ endless: true });
    const abort = new AbortController();
    const speaks = Promise.withResolvers<void>();
    const long = answerOf(language(), { signal: abort.signal, onPart: (part) => part.type === 'text-delta' && speaks.resolve() });
    await speaks.promise;
    slot.choose(modelB);
    const next = language().ready({ signal: new AbortController().signal, onProgress: () => {} });
    for (let i = 0; i < 5; i++) await clock.advanceAsync(20_000);
    abort.abort();
    expect((await long).finish).toBe('cancelled');
    expect(await next).toEqual({ contextSize: 4096 });
    expect(starter.starts).toBe(1);
  });

  it('has no model when none is installed', () => {
    const { engines, slot } = set({});
    slot.choose(null);
    expect(engines.language()).toBeNull();
    expect(engines.status.get()).toMatchObject({ state: 'none', modelId: null });
  });
});

describe('an engine that fails', () => {
  const stages: [string, Behaviour['faults'], string][] = [
    ['at load', [{ on: 'load', step: 1, act: 'exit0' }], 'load'],
    ['at the first token', [{ on: 'generate', step: 1, act: 'exit0' }], 'decode'],
    ['while it reads the prompt', [{ on: 'generate', step: 0, act: 'exit0' }], 'prefill'],
  ];
  it.each(stages)('RB-29: ends the call once with ENGINE_CRASHED when it dies %s', async (_, faults, stage) => {
    const { language, engines, clock, starter } = set([{ faults: faults ?? [] }, {}]);
    const answer = await answerOf(language());
    expect(answer.error).toMatchObject({ code: 'ENGINE_CRASHED', data: { engineKey: 'language', stage } });
    expect(engines.status.get()).toMatchObject({ state: 'error', error: { code: 'ENGINE_CRASHED' } });
    const again = answerOf(language());
    await clock.advanceAsync(1_000);
    expect((await again).text).toBe('One two three');
    expect(starter.starts).toBe(2);
  });

  it('RB-29: switches the model off after three crashes in a row, until a person asks', async () => {
    verifies('RB-29');
    const dies: Behaviour = { faults: [{ on: 'generate', step: 2, act: 'exit0' }] };
    const { language, engines, clock, starter } = set([dies, dies, dies, {}]);
    for (let i = 0; i < 3; i++) {
      const answer = answerOf(language());
      await clock.advanceAsync(5_000);
      expect((await answer).error).toMatchObject({ code: 'ENGINE_CRASHED' });
    }
    expect((await answerOf(language())).error).toMatchObject({ code: 'MODEL_DISABLED', data: { crashes: 3 } });
    expect(starter.starts).toBe(3);
    engines.enable(modelA.modelId);
    expect(engines.status.get().state).toBe('idle');
    const answer = answerOf(language());
    await clock.advanceAsync(5_000);
    expect((await answer).text).toBe('One two three');
  });

  it('RB-29: counts a crash in a load once, however many wait for that load', async () => {
    const dies: Behaviour = { faults: [{ on: 'load', step: 1, act: 'exit0' }] };
    const { language, clock, starter } = set([dies, dies, {}]);
    for (let i = 0; i < 2; i++) {
      const ready = () => language().ready({ signal: new AbortController().signal, onProgress: () => {} });
      const ends = Promise.allSettled([answerOf(language()), ready(), ready()]);
      await clock.advanceAsync(5_000);
      expect((await ends).map((end) => end.status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    }
    const third = answerOf(language());
    await clock.advanceAsync(5_000);
    expect((await third).text).toBe('One two three');
    expect(starter.starts).toBe(3);
  });

  it('forgets crashes when an answer came through', async () => {
    const dies: Behaviour = { faults: [{ on: 'generate', step: 1, act: 'exit0' }] };
    const second: Behaviour = { faults: [{ on: 'generate', step: 1, call: 2, act: 'exit0' }] };
    const { language, clock } = set([dies, dies, second, dies, {}]);
    const outcomes: (string | null)[] = [];
    for (let i = 0; i < 6; i++) {
      const answer = answerOf(language());
      await clock.advanceAsync(5_000);
      const { error, finish } = await answer;
      outcomes.push(error instanceof AppError ? error.code : finish);
    }
    expect(outcomes).toEqual(['ENGINE_CRASHED', 'ENGINE_CRASHED', 'end', 'ENGINE_CRASHED', 'ENGINE_CRASHED', 'end']);
  });

  it.each<[string, Behaviour['faults'], string, number]>([
    ['in load', [{ on: 'load', step: 1, act: 'hang' }], 'load', 30_001],
    ['in prefill', [{ on: 'generate', step: 0, act: 'hang' }], 'prefill', 30_000],
    ['in decode', [{ on: 'generate', step: 2, act: 'hang' }], 'decode', 60_000],
  ])('RB-30: kills it when it hangs %s and ends the call with ENGINE_TIMEOUT', async (_, faults, stage, ms) => {
    verifies('ABI-12');
    const { language, clock, engines, starter } = set([{ faults: faults ?? [] }, {}]);
    const answer = answerOf(language());
    await starter.hung;
    await clock.advanceAsync(ms - 1);
    expect(engines.health()[0]).toMatchObject({ state: 'ready' });
    await clock.advanceAsync(1);
    expect((await answer).error).toMatchObject({ code: 'ENGINE_TIMEOUT', data: { engineKey: 'language', stage } });
    expect(engines.health()[0]).toMatchObject({ state: 'exited', lastError: 'ENGINE_TIMEOUT' });
    const again = answerOf(language());
    await clock.advanceAsync(1_000);
    expect((await again).text).toBe('One two three');
  });

  const lies: [string, FaultAct][] = [
    ['a frame that is none', { post: 'garbage' }],
    ['a body that is none', { body: { t: 'surprise' } }],
    ['an answer to a call that nobody made', { body: { t: 'result', id: 999_999, data: {} } }],
    ['a chunk of a wrong shape', { body: { t: 'chunk', id: 'ID', data: { kind: 'text', tokens: 'many', text: 1 } } }],
    ['a result of a wrong shape', { body: { t: 'result', id: 'ID', data: { stopReason: 'bored' } } }],
    ['an error with an unknown code', { error: { code: 'TOTALLY_FINE', data: {} } }],
  ];
  it.each(lies)('ends it with ENGINE_PROTOCOL when it sends %s', async (_, act) => {
    const { language, engines, clock } = set([{ faults: [{ on: 'generate', step: 2, act }] }, {}]);
    const answer = await answerOf(language());
    expect(answer.error).toMatchObject({ code: 'ENGINE_PROTOCOL' });
    await clock.advanceAsync(0);
    expect(engines.health()[0]?.state).toBe('exited');
  });

  it('ends it when a chunk follows the result', async () => {
    const { language, engines, clock } = set({
      faults: [{ on: 'count', act: { body: { t: 'chunk', id: 1, data: {} } } }],
    });
    await answerOf(language());
    const count = language().countTokens(hello, { signal: new AbortController().signal });
    await expect(count).rejects.toMatchObject({ code: 'ENGINE_PROTOCOL' });
    await clock.advanceAsync(0);
    expect(engines.health()[0]?.lastError).toBe('ENGINE_PROTOCOL');
  });

  it('passes on a typed error of the engine and keeps it alive', async () => {
    const { language, engines } = set({
      faults: [{ on: 'generate', act: { error: { code: 'CONTEXT_OVERFLOW', data: { tokens: 9000, contextSize: 4096 } } } }],
    });
    expect((await answerOf(language())).error).toMatchObject({ code: 'CONTEXT_OVERFLOW', data: { tokens: 9000 } });
    expect(engines.status.get().state).toBe('ready');
  });
});

describe('a trial', () => {
  it('runs in an engine of its own, which is gone afterwards', async () => {
    const { engines, starter, clock } = set({});
    await engines.trial('/nowhere/model.gguf', new AbortController().signal);
    await clock.advanceAsync(0);
    expect(starter.args).toEqual([['probe']]);
    expect(engines.health().find(({ key }) => key === 'probe')).toMatchObject({ state: 'exited' });
  });

  it('costs a child and a note when the file crashes the library', async () => {
    const { engines } = set([{ faults: [{ on: 'trial', act: 'exit0' }] }, {}]);
    await expect(engines.trial('/nowhere/model.gguf', new AbortController().signal)).rejects.toMatchObject({
      code: 'ENGINE_CRASHED',
      data: { engineKey: 'probe', stage: 'trial' },
    });
    await engines.trial('/nowhere/other.gguf', new AbortController().signal);
  });
});
