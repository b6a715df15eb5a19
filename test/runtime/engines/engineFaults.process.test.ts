import { existsSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { createClock } from '../../../src/runtime/platform/clock.ts';
import type { Clock } from '../../../src/runtime/platform/ports.ts';
import { type Behaviour, createFakeEngineStarter, type FaultAct } from '../../helpers/fakeEngine.ts';
import { verifies } from '../../helpers/verifies.ts';
import { answerOf, modelA, setUpEngines } from './harness.ts';

const opened: ReturnType<typeof setUpEngines>[] = [];
afterEach(async () => {
  for (const { engines } of opened.splice(0)) await engines[Symbol.asyncDispose]();
});

/** Real child processes in real time. */
function set(behaviours: Behaviour | readonly Behaviour[], options: { fast?: boolean } = {}) {
  const starter = createFakeEngineStarter(behaviours);
  const pids: number[] = [];
  const watched = {
    ...starter,
    start(spec: Parameters<typeof starter.start>[0]) {
      const link = starter.start(spec);
      const pid = link.pid();
      if (pid !== null) pids.push(pid);
      return link;
    },
  };
  const setup = setUpEngines(watched, { clock: options.fast === true ? createFastClock() : createClock() });
  opened.push(setup);
  return { ...setup, starter, pids };
}

/** Gone, or a zombie that nobody reaps: pid 1 of a container may not. */
function isDead(pid: number): boolean {
  const file = `/proc/${pid}/status`;
  return !existsSync(file) || /^State:\s+[ZX]/m.test(readFileSync(file, 'utf8'));
}

const deaths: FaultAct[] = ['segv', 'abort', 'exit0'];
const places: [string, Behaviour['faults']][] = [
  ['at load', [{ on: 'load', step: 1, act: 'segv' }]],
  ['mid-token', [{ on: 'generate', step: 2, act: 'segv' }]],
];

describe.each(deaths)('RB-29: an engine that ends by %s', (act) => {
  it.each(places)('%s ends the turn with ENGINE_CRASHED and works again afterwards', async (_, faults) => {
    verifies('RB-29');
    const { language, starter, pids } = set([{ faults: (faults ?? []).map((fault) => ({ ...fault, act })) }, {}]);
    expect((await answerOf(language())).error).toMatchObject({ code: 'ENGINE_CRASHED', data: { engineKey: 'language' } });
    expect(pids.every(isDead)).toBe(true);
    expect((await answerOf(language())).text).toBe('One two three');
    expect(starter.starts).toBe(2);
  });

  it('at unload costs nothing but a line in the health', async () => {
    const { language, engines, pids } = set({ faults: [{ on: 'stop', act }] });
    expect((await answerOf(language())).text).toBe('One two three');
    await engines[Symbol.asyncDispose]();
    expect(engines.health()[0]).toMatchObject({ state: 'exited', lastError: 'ENGINE_CRASHED' });
    expect(pids.every(isDead)).toBe(true);
  });
});

describe('RB-29: crash after crash', () => {
  it('switches the model off after three, other work goes on, and a person can switch it on', async () => {
    verifies('RB-29');
    const dies: Behaviour = { faults: [{ on: 'generate', step: 1, act: 'segv' }] };
    const { language, engines, starter } = set([dies, dies, dies, {}]);
    for (let i = 0; i < 3; i++) expect((await answerOf(language())).error).toMatchObject({ code: 'ENGINE_CRASHED' });
    expect((await answerOf(language())).error).toMatchObject({ code: 'MODEL_DISABLED', data: { crashes: 3 } });
    expect(starter.starts).toBe(3);
    await engines.trial('/nowhere/other.gguf', new AbortController().signal);
    engines.enable(modelA.modelId);
    expect((await answerOf(language())).text).toBe('One two three');
  });
});

describe('RB-30: an engine that sleeps for ever', () => {
  it.each<[string, FaultAct, Behaviour['faults'], string]>([
    ['in load', 'hang', [{ on: 'load', step: 1, act: 'hang' }], 'load'],
    ['in load, holding its thread', 'freeze', [{ on: 'load', step: 1, act: 'freeze' }], 'load'],
    ['in decode', 'hang', [{ on: 'generate', step: 2, act: 'hang' }], 'decode'],
    ['in decode, holding its thread', 'freeze', [{ on: 'generate', step: 2, act: 'freeze' }], 'decode'],
  ])('%s is killed, and the turn ends with ENGINE_TIMEOUT', async (_, act, faults, stage) => {
    verifies('RB-30', 'ABI-12');
    const { language, engines, pids } = set([{ faults: (faults ?? []).map((fault) => ({ ...fault, act })) }, {}], { fast: true });
    expect((await answerOf(language())).error).toMatchObject({ code: 'ENGINE_TIMEOUT', data: { engineKey: 'language', stage } });
    await engineGone(engines);
    expect(pids.every(isDead)).toBe(true);
    expect((await answerOf(language())).text).toBe('One two three');
  });

  it('is killed when it does not heed a stop', async () => {
    verifies('RB-30');
    const { language, engines, pids } = set({ faults: [{ on: 'stop', act: 'freeze' }] }, { fast: true });
    expect((await answerOf(language())).text).toBe('One two three');
    await engines[Symbol.asyncDispose]();
    expect(engines.health()[0]).toMatchObject({ state: 'exited', lastError: 'ENGINE_TIMEOUT' });
    expect(pids.every(isDead)).toBe(true);
  });
});

async function engineGone(engines: ReturnType<typeof setUpEngines>['engines']): Promise<void> {
  while (engines.health()[0]?.state === 'stopping') await new Promise((resolve) => setImmediate(resolve));
}

/** The machine's time, but the deadlines of load, prefill and decode (30 s and more) come twenty times sooner. */
function createFastClock(): Clock {
  const clock = createClock();
  return { ...clock, setTimer: (ms, callback) => clock.setTimer(ms >= 30_000 ? ms / 20 : ms, callback) };
}
