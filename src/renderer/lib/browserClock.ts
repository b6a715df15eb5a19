import type { Clock } from '../../shared/util/clock.ts';

/** The page's one source of time; everything else is given a `Clock`, so that tests can hold it. */
export const browserClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
