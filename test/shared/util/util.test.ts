import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAsyncQueue } from '../../../src/shared/util/asyncQueue.ts';
import { detach } from '../../../src/shared/util/detach.ts';
import { createDisposables } from '../../../src/shared/util/disposables.ts';
import { createLiveValue } from '../../../src/shared/util/liveValue.ts';
import { createThrottle } from '../../../src/shared/util/throttle.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';

/** An AbortSignal that counts its listeners. */
function countedSignal() {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  return { controller, signal, listeners: () => listeners };
}

describe('createLiveValue', () => {
  it('gives the whole first, then only the newest to a slow reader, with rising revisions', async () => {
    const live = createLiveValue('a');
    const watch = live.watch();
    expect((await watch.next()).value).toEqual({ revision: 1, value: 'a' });
    live.set('b');
    live.set('c');
    expect((await watch.next()).value).toEqual({ revision: 3, value: 'c' });
    live.close();
    expect((await watch.next()).done).toBe(true);
  });

  it('ends every watcher when it closes, also those who wait', async () => {
    const live = createLiveValue(1);
    const watch = live.watch();
    await watch.next();
    const waiting = watch.next();
    live.close();
    expect((await waiting).done).toBe(true);
    live.set(2);
    expect(live.get()).toBe(1);
  });

  it('ends on abort and leaves no listener on a signal that lives on', async () => {
    const live = createLiveValue(0);
    const { controller, signal, listeners } = countedSignal();
    const watch = live.watch(signal);
    await watch.next();
    for (let i = 1; i <= 50; i++) {
      const next = watch.next();
      live.set(i);
      await next;
    }
    expect(listeners()).toBeLessThanOrEqual(0);
    const last = watch.next();
    controller.abort();
    expect((await last).done).toBe(true);
  });
});

describe('createThrottle', () => {
  it('passes the first at once, then at most one each interval, and always the last', () => {
    const clock = createFakeClock();
    const seen: number[] = [];
    const throttle = createThrottle<number>(clock, 100, (value) => seen.push(value));
    throttle.push(1);
    throttle.push(2);
    throttle.push(3);
    expect(seen).toEqual([1]);
    clock.advance(100);
    expect(seen).toEqual([1, 3]);
    clock.advance(500);
    throttle.push(4);
    expect(seen).toEqual([1, 3, 4]);
    expect(clock.pending).toBe(1);
  });

  it('drops what waits when it is cancelled, and passes it when it is flushed', () => {
    const clock = createFakeClock();
    const seen: number[] = [];
    const throttle = createThrottle<number>(clock, 100, (value) => seen.push(value));
    throttle.push(1);
    throttle.push(2);
    throttle.flush();
    throttle.push(3);
    throttle.cancel();
    clock.advance(1000);
    throttle.push(4);
    expect(seen).toEqual([1, 2]);
    expect(clock.pending).toBe(0);
  });
});

describe('createAsyncQueue', () => {
  it('keeps order, never holds more than its capacity, and counts every item that it dropped', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.array(fc.boolean(), { maxLength: 40 }), async (capacity, steps) => {
        const queue = createAsyncQueue<number>(capacity);
        const reader = queue.read();
        let pushed = 0;
        let expected = 0;
        for (const push of steps) {
          if (push) queue.push(pushed++);
          else if (queue.size > 0) {
            const { value } = await reader.next();
            if (value === undefined) throw new Error('ended');
            expected += value.missed;
            expect(value.item).toBe(expected);
            expected += 1;
          }
          expect(queue.size).toBeLessThanOrEqual(capacity);
        }
        queue.close();
        for await (const { item, missed } of reader) {
          expected += missed;
          expect(item).toBe(expected);
          expected += 1;
        }
        expect(expected).toBe(pushed);
      }),
    );
  });

  it('gives what is left before an error, and wakes a waiting reader', async () => {
    const queue = createAsyncQueue<string>(4);
    const reader = queue.read();
    const first = reader.next();
    queue.push('a');
    queue.push('b');
    queue.fail(new Error('over'));
    expect((await first).value).toEqual({ item: 'a', missed: 0 });
    expect((await reader.next()).value).toEqual({ item: 'b', missed: 0 });
    await expect(reader.next()).rejects.toThrow('over');
  });

  it('ends with its signal', async () => {
    const queue = createAsyncQueue<string>(1);
    const abort = new AbortController();
    const next = queue.read(abort.signal).next();
    abort.abort();
    expect((await next).done).toBe(true);
  });
});

describe('createDisposables', () => {
  it('undoes in reverse order, all of it, and throws the first failure', async () => {
    const order: number[] = [];
    const store = createDisposables();
    store.add(() => void order.push(1));
    store.add(() => {
      order.push(2);
      throw new Error('two');
    });
    store.add(async () => {
      await Promise.resolve();
      order.push(3);
      throw new Error('three');
    });
    const first = store.dispose();
    const second = store.dispose();
    await expect(first).rejects.toThrow('three');
    await expect(second).rejects.toThrow('three');
    expect(order).toEqual([3, 2, 1]);
  });

  it('closes late comers at once', async () => {
    const failures: unknown[] = [];
    const store = createDisposables((error) => failures.push(error));
    await store.dispose();
    let closed = false;
    store.add(() => {
      closed = true;
    });
    store.add(() => Promise.reject(new Error('late')));
    await new Promise((resolve) => setImmediate(resolve));
    expect(closed).toBe(true);
    expect(store.disposed).toBe(true);
    expect(failures).toHaveLength(1);
  });
});

describe('detach', () => {
  it('logs a failure by name instead of leaving it uncaught', async () => {
    const seen: unknown[] = [];
    detach(Promise.reject(new Error('x')), { error: (event, fields) => seen.push([event, fields]) }, 'some.work');
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual([['detached.failed', { what: 'some.work' }]]);
  });
});
