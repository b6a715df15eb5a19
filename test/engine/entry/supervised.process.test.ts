import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createClock } from '../../../src/runtime/platform/clock.ts';
import { createNodeStarter } from '../../../src/runtime/platform/nodeStarter.ts';
import type { Clock } from '../../../src/runtime/platform/ports.ts';
import type { AppError } from '../../../src/shared/errors/appError.ts';
import { type FakeLlama, fakeLlama, pieces } from '../../helpers/fakeLlama.ts';
import { verifies } from '../../helpers/verifies.ts';
import { answerOf, setUpEngines } from '../../runtime/engines/harness.ts';

// Everything from the language port down to a C library that misbehaves: client, supervisor, process, worker, binding, FFI.

/** The machine's time, but deadlines of 30 s and more come ten times sooner: still long for everything that does not hang. */
function impatient(): Clock {
  const clock = createClock();
  return { ...clock, setTimer: (ms, callback) => clock.setTimer(ms >= 30_000 ? ms / 10 : ms, callback) };
}

function chain(fake: FakeLlama, clock = createClock()) {
  const setup = setUpEngines(createNodeStarter({ here: import.meta.url }), {
    clock,
    path: fake.model,
    dataDir: join(fake.dir, 'data'),
    env: { PATH: process.env['PATH'] ?? '', SOTTO_THREADS: '1', ...fake.env },
  });
  return { ...setup, [Symbol.asyncDispose]: () => setup.engines[Symbol.asyncDispose]() };
}

/** Gone, or a zombie that nobody reaps: pid 1 of a container may not. */
function isDead(pid: number): boolean {
  const file = `/proc/${pid}/status`;
  return !existsSync(file) || /^State:\s+[ZX]/m.test(readFileSync(file, 'utf8'));
}

const script = { LOOP: 1, PIECES: pieces('one '), TOKEN_MS: 5 };

describe('the port over a library that dies', () => {
  it.each([
    ['segv', 'load', 'load'],
    ['abort', 'load', 'load'],
    ['exit', 'load', 'load'],
    ['segv', 'token:30', 'decode'],
    ['abort', 'token:30', 'decode'],
    ['exit', 'token:30', 'decode'],
  ])('RB-29: %s at %s ends the answer with ENGINE_CRASHED, and the next one is right', async (how, place, stage) => {
    verifies('RB-29');
    using fake = fakeLlama({ ...script, CRASH_AT: place, CRASH_HOW: how });
    await using setup = chain(fake);
    const answer = await answerOf(setup.language());
    expect(answer.error).toMatchObject({ code: 'ENGINE_CRASHED', data: { engineKey: 'language', stage } });
    if (stage === 'decode') expect(answer.text).toMatch(/^(one )+$/);
    fake.set({});
    expect((await answerOf(setup.language())).text).toBe('Hello world.');
  });

  it('RB-29: three times, and the model is off without another start', async () => {
    verifies('RB-29');
    using fake = fakeLlama({ CRASH_AT: 'load' });
    await using setup = chain(fake);
    const codes: unknown[] = [];
    for (let i = 0; i < 5; i += 1) codes.push(((await answerOf(setup.language())).error as AppError).code);
    expect(codes).toEqual(['ENGINE_CRASHED', 'ENGINE_CRASHED', 'ENGINE_CRASHED', 'MODEL_DISABLED', 'MODEL_DISABLED']);
    expect(fake.calls().filter((line) => line.startsWith('llama_model_load'))).toHaveLength(3);
  });
});

describe('the port over a library that never returns', () => {
  it.each([
    ['load', 'load'],
    ['prefill', 'prefill'],
    ['token:3', 'decode'],
  ])('RB-30: in %s the engine is killed, the memory is back, and the next answer is right', async (place, stage) => {
    verifies('RB-30');
    using fake = fakeLlama({ ...script, HANG_AT: place, LEAK_MB: 50 });
    await using setup = chain(fake, impatient());
    const { error } = await answerOf(setup.language());
    expect(error).toMatchObject({ code: 'ENGINE_TIMEOUT', data: { engineKey: 'language', stage } });
    const pid = setup.pid();
    while (!isDead(pid)) await new Promise((resolve) => setImmediate(resolve));
    fake.set({});
    expect((await answerOf(setup.language())).text).toBe('Hello world.');
  });
});

it('ABI-02: a library with another layout is a typed error of the port, and costs no crash', async () => {
  verifies('ABI-02');
  using fake = fakeLlama({ WRONG_DEFAULTS: 'context' });
  await using setup = chain(fake);
  expect((await answerOf(setup.language())).error).toMatchObject({ code: 'NATIVE_ABI_MISMATCH' });
  expect(setup.engines.health()[0]?.state).toBe('ready');
  expect(fake.calls()).toEqual([]);
});
