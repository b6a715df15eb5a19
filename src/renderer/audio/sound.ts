import type { CaptureNode } from './captureLine.ts';
import type { Media } from './devices.ts';
import type { CaptureMessage, PlaybackMessage } from './messages.ts';
import type { PlaybackNode } from './playback.ts';

/** The devices of a page and the two worklets over them; tests put others in their place. */
export type Sound = {
  /** Undefined where the page is no secure context. */
  readonly media: Media | undefined;
  openCaptureNode(stream: MediaStream, onMessage: (message: CaptureMessage) => void): Promise<CaptureNode>;
  openPlaybackNode(onMessage: (message: PlaybackMessage) => void): Promise<PlaybackNode>;
};
