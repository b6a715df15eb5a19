import { describe, expect, it } from 'vitest';
import { createTurnstile } from '../../../src/runtime/engines/turnstile.ts';

describe('createTurnstile', () => {
  it('ABI-12: lets one in at a time, in order', async () => {
    const turnstile = createTurnstile(8);
    const order: number[] = [];
    let inside = 0;
    await Promise.all(
      [1, 2, 3, 4].map(async (n) => {
        const leave = await turnstile.enter();
        inside += 1;
        expect(inside).toBe(1);
        await Promise.resolve();
        order.push(n);
        inside -= 1;
        leave();
        leave();
      }),
    );
    expect(order).toEqual([1, 2, 3, 4]);
    expect(turnstile.waiting).toBe(0);
  });

  it('refuses when too many wait, and forgets who gave up', async () => {
    const turnstile = createTurnstile(1);
    const leave = await turnstile.enter();
    const abort = new AbortController();
    const second = turnstile.enter(abort.signal);
    await expect(turnstile.enter()).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' });
    abort.abort();
    await expect(second).rejects.toMatchObject({ code: 'CANCELLED' });
    const third = turnstile.enter();
    leave();
    (await third)();
    await expect(turnstile.enter(abort.signal)).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});
