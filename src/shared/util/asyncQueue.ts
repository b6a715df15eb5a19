/**
 * A bounded queue between a producer that cannot wait and one reader. When it is full the oldest items go, and the reader is told how
 * many it missed.
 */
export type AsyncQueue<T> = {
  /** Never waits. After `close` it does nothing. */
  push(item: T): void;
  /** The reader gets what is left, then the end. */
  close(): void;
  /** The reader gets what is left, then this error. */
  fail(error: unknown): void;
  /** Items in order; one reader. `missed` counts items that were dropped before this one. */
  read(signal?: AbortSignal): AsyncGenerator<{ item: T; missed: number }, void, void>;
  readonly size: number;
};

/** @param capacity  items that may wait; ≥ 1. */
export function createAsyncQueue<T>(capacity: number): AsyncQueue<T> {
  // A ring: `head` is the oldest item, `count` how many wait.
  const ring: (T | undefined)[] = [];
  let head = 0;
  let count = 0;
  let missed = 0;
  let ended = false;
  let failure: { error: unknown } | null = null;
  let wake: (() => void) | null = null;
  const rouse = () => {
    const resume = wake;
    wake = null;
    resume?.();
  };
  const take = (): T => {
    const item = ring[head] as T;
    ring[head] = undefined;
    head = (head + 1) % capacity;
    count -= 1;
    return item;
  };
  return {
    push(item) {
      if (ended) return;
      if (count === capacity) {
        take();
        missed += 1;
      }
      ring[(head + count) % capacity] = item;
      count += 1;
      rouse();
    },
    close() {
      ended = true;
      rouse();
    },
    fail(error) {
      if (ended) return;
      ended = true;
      failure = { error };
      rouse();
    },
    async *read(signal) {
      while (!signal?.aborted) {
        if (count > 0) {
          const lost = missed;
          missed = 0;
          yield { item: take(), missed: lost };
          continue;
        }
        if (failure !== null) throw failure.error;
        if (ended) return;
        let onAbort: (() => void) | undefined;
        await new Promise<void>((resume) => {
          wake = resume;
          onAbort = () => resume();
          signal?.addEventListener('abort', onAbort, { once: true });
        });
        if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
      }
    },
    get size() {
      return count;
    },
  };
}
