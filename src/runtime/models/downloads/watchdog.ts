import type { Clock } from '../../platform/ports.ts';
import { downloadLimits as limits } from '../limits.ts';

/** Why a running transfer was cut by us: no bytes, hardly any bytes, or the machine slept (DL-17). */
export type Verdict = 'silent' | 'slow' | 'woke';

/**
 * Watches a transfer once a second.
 *
 * @param onVerdict  called at most once.
 */
export function watchTransfer(clock: Clock, onVerdict: (verdict: Verdict) => void): { bytes(count: number): void; stop(): void } {
  let lastByteAt = clock.monotonicMs();
  let windowAt = lastByteAt;
  let windowBytes = 0;
  let drift = clock.nowMs() - lastByteAt;
  let stopTimer = () => {};

  const judge = (): Verdict | null => {
    const now = clock.monotonicMs();
    const drifted = clock.nowMs() - now;
    if (drifted - drift > limits.sleepMs) return 'woke';
    drift = drifted;
    if (now - lastByteAt >= limits.silentMs) return 'silent';
    if (now - windowAt < limits.slowMs) return null;
    if (windowBytes < (limits.slowBytesPerSecond * limits.slowMs) / 1000) return 'slow';
    windowAt = now;
    windowBytes = 0;
    return null;
  };
  const look = () => {
    const verdict = judge();
    if (verdict === null) stopTimer = clock.setTimer(1000, look);
    else onVerdict(verdict);
  };
  stopTimer = clock.setTimer(1000, look);

  return {
    bytes(count) {
      lastByteAt = clock.monotonicMs();
      windowBytes += count;
    },
    stop: () => stopTimer(),
  };
}
