import type { Clock } from '../../shared/util/clock.ts';

/** Longest delay that a Node timer keeps; a longer one fires at once (it warns and uses 1 ms). */
const MAX_TIMER_MS = 2_147_483_647;

/** The machine's own time. Timers do not keep the process alive. */
export function createClock(): Clock {
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    setTimer(ms, callback) {
      let timer: NodeJS.Timeout;
      const arm = (left: number) => {
        const part = Math.min(left, MAX_TIMER_MS);
        timer = setTimeout(() => (left > part ? arm(left - part) : callback()), Math.max(0, part));
        timer.unref();
      };
      arm(ms);
      return () => clearTimeout(timer);
    },
  };
}
