import type { SoundChunk } from '../../shared/domain/audio.ts';
import type { CaptureCounts, CaptureEvent } from './captureCore.ts';
import type { PlaybackEvent } from './playbackCore.ts';

/** Names under which the two worklets register. */
export const processors = { capture: 'sotto-capture', playback: 'sotto-playback' } as const;

/** Samples of one render quantum; both engines that we run on have this one only. */
export const quantum = 128;

/** Page → worklet → page over the worklet's port. Both ends are of one build, so nothing is parsed; samples are transferred. */
export type CaptureCommand =
  | { readonly type: 'begin'; readonly preRollMs: number }
  | { readonly type: 'end'; readonly tailMs: number }
  | { readonly type: 'close'; readonly keep: boolean };
export type CaptureMessage = CaptureEvent | { readonly type: 'closed'; readonly counts: CaptureCounts };

export type PlaybackCommand =
  | { readonly type: 'enqueue'; readonly chunk: SoundChunk }
  | { readonly type: 'finish'; readonly generation: number }
  | { readonly type: 'stop'; readonly generation: number }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' };
export type PlaybackMessage = PlaybackEvent;
