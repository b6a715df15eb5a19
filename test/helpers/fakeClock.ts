import type { Clock } from '../../src/shared/util/clock.ts';

export type FakeClock = Clock & {
  /** Moves both clocks and fires the timers that come due, in order, each at its own time. */
  advance(ms: number): void;
  /** `advance` that lets promises settle after each timer. */
  advanceAsync(ms: number): Promise<void>;
  /** Timers that wait. */
  readonly pending: number;
  /** Jumps the wall clock alone, as a person or a time server does. */
  jump(ms: number): void;
};

/**
 * Time that moves only when a test says so.
 *
 * @param startMs  wall clock at the start; default 2026-01-02T03:04:05.000Z.
 */
export function createFakeClock(startMs = Date.UTC(2026, 0, 2, 3, 4, 5)): FakeClock {
  let wall = startMs;
  let mono = 0;
  let order = 0;
  const timers = new Set<{ at: number; order: number; callback: () => void }>();
  const step = (until: number): boolean => {
    let next: { at: number; order: number; callback: () => void } | undefined;
    for (const timer of timers)
      if (timer.at <= until && (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order)))
        next = timer;
    const to = next?.at ?? until;
    wall += to - mono;
    mono = to;
    if (next === undefined) return false;
    timers.delete(next);
    next.callback();
    return true;
  };
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    nowMs: () => wall,
    monotonicMs: () => mono,
    setTimer(ms, callback) {
      const timer = { at: mono + Math.max(0, ms), order: order++, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      const until = mono + ms;
      while (step(until));
    },
    async advanceAsync(ms) {
      const until = mono + ms;
      await settle();
      while (step(until)) await settle();
      await settle();
    },
    get pending() {
      return timers.size;
    },
    jump(ms) {
      wall += ms;
    },
  };
}
