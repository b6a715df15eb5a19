import { AppError } from '../../shared/errors/appError.ts';
import type { MicrophoneGate } from '../voice/ports.ts';

/** Where there is no main process to ask (`serve`, tests): the page asks its person itself, and only the mute is ours (VO-09). */
export function createOwnGate(): MicrophoneGate {
  let muted = false;
  return {
    grant: () => (muted ? Promise.reject(new AppError('MIC_MUTED')) : Promise.resolve()),
    release() {},
    setMuted(now) {
      muted = now;
    },
  };
}
