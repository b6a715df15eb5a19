import { audio } from '../../../shared/domain/audio.ts';
import type { Clock } from '../../platform/ports.ts';

/**
 * A microphone that gives nothing but zeros ends what waits for words (VO-06). The page says so once; a press that comes later has its own
 * time to hear something.
 *
 * @param deps.isAwaited  somebody is being listened to.
 * @param deps.onIdle     it went silent while nobody talked: a word about it, and nothing else.
 */
export function createSilentWatch(deps: {
  clock: Clock;
  isSilent: () => boolean;
  isAwaited: () => boolean;
  onSilent: () => void;
  onIdle: () => void;
}) {
  let stopTimer = () => {};
  return {
    silent(): void {
      stopTimer();
      if (deps.isAwaited()) deps.onSilent();
      else deps.onIdle();
    },
    listen(): void {
      stopTimer();
      if (!deps.isSilent()) return;
      stopTimer = deps.clock.setTimer(audio.silentMs, () => {
        if (deps.isSilent() && deps.isAwaited()) deps.onSilent();
      });
    },
    stop: () => stopTimer(),
  };
}
