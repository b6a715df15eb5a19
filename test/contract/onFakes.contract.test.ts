import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { OutboundRequest } from '../../src/runtime/platform/ports.ts';
import { AppError } from '../../src/shared/errors/appError.ts';
import { createFakeClock } from '../helpers/fakeClock.ts';
import { createTestRuntime } from '../helpers/testRuntime.ts';
import { verifies } from '../helpers/verifies.ts';

// The bug: a service that reads the clock, the network or another instance by itself, so that its rows could be tested only with a real
// model on a real machine.
describe('the runtime on fakes for model, clock, files and fetch', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('answers from the given model, at the given time, in the given folder, and asks nobody', async () => {
    verifies('GE-08');
    const clock = createFakeClock(Date.UTC(2031, 5, 7, 8, 9, 10));
    const asked: OutboundRequest[] = [];
    const outside = vi.spyOn(globalThis, 'fetch');
    await using rt = await createTestRuntime({
      clock,
      fetch: {
        open: (request) => {
          asked.push(request);
          return Promise.reject(new AppError('NO_NETWORK'));
        },
      },
    });
    rt.model.play([{ say: 'Forty-two.' }]);
    const { session } = await rt.client.sessions.start({});
    const { turnId } = await rt.client.turns.send({ sessionId: session.id, content: 'What is the answer?' });
    await vi.waitUntil(async () => {
      await clock.advanceAsync(200);
      return (await rt.client.turns.get({ sessionId: session.id, turnId })).status === 'completed';
    });

    const turn = await rt.client.turns.get({ sessionId: session.id, turnId });
    expect(turn.createdAt).toMatch(/^2031-06-07T08:09:1/);
    expect(rt.model.calls.length).toBeGreaterThan(0);
    expect(existsSync(rt.paths.database)).toBe(true);
    expect(asked).toEqual([]);
    expect(outside).not.toHaveBeenCalled();
  });

  it('two runtimes in one process share nothing', async () => {
    await using one = await createTestRuntime();
    await using two = await createTestRuntime();
    await one.client.sessions.start({ title: 'only here' });
    expect((await one.client.sessions.list({})).sessions).toHaveLength(1);
    expect((await two.client.sessions.list({})).sessions).toEqual([]);
    expect(await readdir(two.dataDir)).toContain('sotto.db');
  });
});
