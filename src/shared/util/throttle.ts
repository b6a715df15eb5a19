import type { Clock } from './clock.ts';

export type Throttled<T> = {
  /** Passes the first value at once, then the newest one each `ms`. */
  push(value: T): void;
  /** Passes a waiting value now. */
  flush(): void;
  /** Drops a waiting value and stays silent. */
  cancel(): void;
};

/**
 * Limits how often a sink is called; the last value always arrives.
 *
 * @param ms  shortest time between two calls.
 */
export function createThrottle<T>(clock: Pick<Clock, 'setTimer'>, ms: number, sink: (value: T) => void): Throttled<T> {
  let waiting: { value: T } | null = null;
  let stopTimer: (() => void) | null = null;
  let cancelled = false;
  const pass = () => {
    const due = waiting;
    waiting = null;
    if (due !== null) sink(due.value);
    return due !== null;
  };
  const arm = () => {
    stopTimer = clock.setTimer(ms, () => {
      stopTimer = null;
      if (pass()) arm();
    });
  };
  return {
    push(value) {
      if (cancelled) return;
      waiting = { value };
      if (stopTimer !== null) return;
      pass();
      arm();
    },
    flush() {
      pass();
    },
    cancel() {
      cancelled = true;
      waiting = null;
      stopTimer?.();
    },
  };
}
