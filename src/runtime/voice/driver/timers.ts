import type { Clock } from '../../platform/ports.ts';
import type { TimerName } from '../turn/state.ts';

/** The reducer's timers: one of each name, the newest counts. */
export function createTimers(clock: Clock, fire: (name: TimerName, id: number) => void) {
  const running = new Map<TimerName, () => void>();
  const stop = (name: TimerName) => {
    running.get(name)?.();
    running.delete(name);
  };
  return {
    start(name: TimerName, id: number, ms: number): void {
      stop(name);
      running.set(
        name,
        clock.setTimer(ms, () => {
          running.delete(name);
          fire(name, id);
        }),
      );
    },
    stop,
    stopAll(): void {
      for (const name of [...running.keys()]) stop(name);
    },
  };
}
