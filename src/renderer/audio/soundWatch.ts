import { audio, msOf } from '../../shared/domain/audio.ts';

/**
 * Whether sound truly arrives (VO-06, VO-07): an open device is no proof, only a sample that is not zero is.
 *
 * @returns  what each input changes: `sound` at the first sound since the start or since `silent`, `silent` after 1.5 s of exact zeros or
 *           3 s without any frame, once; null for no change.
 */
export function createSoundWatch() {
  const frameMs = msOf(audio.frameSamples, audio.rateHz);
  let state: 'waiting' | 'sound' | 'silent' = 'waiting';
  let zeroMs = 0;
  const become = (next: 'sound' | 'silent') => {
    if (state === next) return null;
    state = next;
    return next;
  };
  return {
    frame(zero: boolean): 'sound' | 'silent' | null {
      zeroMs = zero ? zeroMs + frameMs : 0;
      if (!zero) return become('sound');
      return zeroMs >= audio.silentMs ? become('silent') : null;
    },
    /** No frame came for 3 s. */
    nothing: (): 'sound' | 'silent' | null => become('silent'),
  };
}
