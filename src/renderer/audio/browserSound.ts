import { openCaptureNode, openPlaybackNode } from './contexts.ts';
import type { Sound } from './sound.ts';

/** The real devices. A module of its own, since it brings the worklets' files along. */
export const browserSound: Sound = {
  // Missing in a page that is not served by https or from this machine, whatever the types say.
  media: 'mediaDevices' in navigator ? navigator.mediaDevices : undefined,
  openCaptureNode,
  openPlaybackNode,
};
