/** What a live value yields: the whole snapshot, with a revision that only rises. */
export type Snapshot<T> = { readonly revision: number; readonly value: T };

/** The owner's side of a live value. */
export type LiveValue<T> = {
  get(): T;
  set(value: T): void;
  /** First the present snapshot, then newer ones; a slow reader skips to the newest. Ends with `signal` or `close`. */
  watch(signal?: AbortSignal): AsyncGenerator<Snapshot<T>, void, void>;
  close(): void;
};

/**
 * A value that many readers follow. `set` is cheap: it stores and wakes; throttling is the caller's choice.
 *
 * @param initial  the first snapshot, revision 1.
 */
export function createLiveValue<T>(initial: T): LiveValue<T> {
  let value = initial;
  let revision = 1;
  let closed = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const resume of [...waiting]) resume();
    waiting.clear();
  };
  return {
    get: () => value,
    set(next) {
      if (closed) return;
      value = next;
      revision += 1;
      wake();
    },
    async *watch(signal) {
      let seen = 0;
      while (!closed && !signal?.aborted) {
        if (revision > seen) {
          seen = revision;
          yield { revision, value };
          continue;
        }
        let stop: (() => void) | undefined;
        await new Promise<void>((resume) => {
          stop = () => resume();
          waiting.add(stop);
          signal?.addEventListener('abort', stop, { once: true });
        });
        // Neither a signal nor this value may keep what has been woken: a watcher can live as long as the app.
        if (stop !== undefined) {
          waiting.delete(stop);
          signal?.removeEventListener('abort', stop);
        }
      }
    },
    close() {
      closed = true;
      wake();
    },
  };
}
