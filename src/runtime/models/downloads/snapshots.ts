import type { DownloadsValue } from '../../../shared/contract/models.ts';
import { createLiveValue, type LiveValue } from '../../../shared/util/liveValue.ts';
import type { Clock } from '../../platform/ports.ts';
import { downloadLimits as limits } from '../limits.ts';

/**
 * The live value of the downloads, set at most once each 250 ms. While something runs it is set by itself too, so that a speed falls
 * to 0 in silence.
 */
export function createSnapshots(
  clock: Clock,
  read: () => DownloadsValue,
  isRunning: () => boolean,
): { live: LiveValue<DownloadsValue>; changed(): void; close(): void } {
  const live = createLiveValue<DownloadsValue>(read());
  let lastAt = Number.NEGATIVE_INFINITY;
  let stopTimer = () => {};
  let isDue = false;
  const publish = () => {
    stopTimer();
    isDue = false;
    lastAt = clock.monotonicMs();
    live.set(read());
    if (isRunning()) stopTimer = clock.setTimer(2 * limits.snapshotMs, publish);
  };
  return {
    live,
    changed() {
      if (isDue) return;
      const wait = lastAt + limits.snapshotMs - clock.monotonicMs();
      if (wait <= 0) {
        publish();
        return;
      }
      // Sooner than the slow tick that may wait already.
      stopTimer();
      isDue = true;
      stopTimer = clock.setTimer(wait, publish);
    },
    close() {
      stopTimer();
      live.close();
    },
  };
}
