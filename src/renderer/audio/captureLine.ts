import { type AudioFrame, audio } from '../../shared/domain/audio.ts';
import type { Level } from '../../shared/domain/voiceSignal.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { Clock } from '../../shared/util/clock.ts';
import { hardware, listDevices, type Media, pickDevice } from './devices.ts';
import type { CaptureCommand, CaptureMessage } from './messages.ts';
import { createSoundWatch } from './soundWatch.ts';

/** A stream in its worklet. */
export type CaptureNode = {
  send(command: CaptureCommand): void;
  /** Ends the worklet with its context. */
  close(): Promise<void>;
};

export type LineDeps = {
  /** Undefined where the page is no secure context. */
  readonly media: Media | undefined;
  readonly clock: Clock;
  readonly openNode: (stream: MediaStream, onMessage: (message: CaptureMessage) => void) => Promise<CaptureNode>;
  /** What failed while something was closed; nobody can be told more. */
  readonly onError: (error: unknown) => void;
};

export type LineEvents = {
  readonly onFrame: (frame: AudioFrame) => void;
  readonly onEnded: () => void;
  readonly onLevel: (level: Level) => void;
  readonly onSound: (change: 'sound' | 'silent') => void;
  /** The device is gone, or the system's own became another one. */
  readonly onLost: () => void;
};

/** One microphone, from its opening to its end. */
export type Line = {
  readonly device: string;
  send(command: CaptureCommand): void;
  /** At once: nothing that it still holds is told any more. */
  drop(): void;
  /** Lets the unfinished frame out before it ends. */
  finish(): Promise<void>;
};

/** A worklet whose context died answers nothing; the turn does not wait for it. */
const lastWordMs = 500;

/**
 * Opens the microphone of this name, or the system's own.
 *
 * @param signal  stops the track at once, wherever the opening stands.
 * @throws AppError UNSUPPORTED, MIC_DENIED, MIC_MISSING, MIC_UNREADABLE; CANCELLED after `signal`.
 */
export async function openLine(deps: LineDeps, wanted: string | null, events: LineEvents, signal: AbortSignal): Promise<Line> {
  const { media, clock } = deps;
  if (media === undefined) throw new AppError('UNSUPPORTED', { what: 'the microphone' });
  const before = pickDevice((await listDevices(media)).inputs, wanted);
  const stream = await streamOf(media, before?.id ?? '', before?.name ?? '');
  const stopTracks = () => {
    for (const track of stream.getTracks()) track.stop();
  };
  const check = () => {
    if (signal.aborted) throw new AppError('CANCELLED');
  };
  signal.addEventListener('abort', stopTracks, { once: true });
  try {
    check();
    // Names and groups are known only now, after the permission.
    const device = pickDevice((await listDevices(media)).inputs, wanted);
    check();
    const name = stream.getAudioTracks()[0]?.label ?? device?.name ?? '';
    return await wire(deps, events, stream, { name, hardware: hardware(device), wanted, media }, check);
  } catch (error) {
    stopTracks();
    throw error;
  } finally {
    signal.removeEventListener('abort', stopTracks);
  }

  async function wire(
    { openNode, onError }: LineDeps,
    { onFrame, onEnded, onLevel, onSound, onLost }: LineEvents,
    from: MediaStream,
    is: { name: string; hardware: string; wanted: string | null; media: Media },
    stillWanted: () => void,
  ): Promise<Line> {
    let over = false;
    let lastWord: (() => void) | null = null;
    let stopTimer = () => {};
    const sound = createSoundWatch();
    const tellSound = (change: 'sound' | 'silent' | null) => {
      if (change !== null && !over) onSound(change);
    };
    const expectFrame = () => {
      stopTimer();
      stopTimer = clock.setTimer(audio.noFrameMs, () => tellSound(sound.nothing()));
    };
    const node = await openNode(from, (message) => {
      if (over) return;
      switch (message.type) {
        case 'level':
          expectFrame();
          onLevel(message.level);
          return tellSound(sound.frame(message.level.zeros));
        case 'frame':
          return onFrame(message.frame);
        case 'ended':
          return onEnded();
        case 'closed':
          return lastWord?.();
      }
    });
    const end = () => {
      over = true;
      stopTimer();
      ignore();
      stopTracks();
    };
    const lost = () => {
      if (!over && lastWord === null) onLost();
    };
    const lookAgain = () => {
      listDevices(is.media).then(({ inputs }) => {
        if (is.hardware !== hardware(pickDevice(inputs, is.wanted))) lost();
      }, onError);
    };
    const track = from.getAudioTracks()[0];
    const ignore = () => {
      track?.removeEventListener('ended', lost);
      is.media.removeEventListener('devicechange', lookAgain);
    };
    try {
      stillWanted();
    } catch (error) {
      over = true;
      stopTimer();
      node.close().catch(onError);
      throw error;
    }
    track?.addEventListener('ended', lost);
    is.media.addEventListener('devicechange', lookAgain);
    expectFrame();
    // It may have ended while the worklet was loading.
    if (track?.readyState === 'ended') clock.setTimer(0, lost);
    return {
      device: is.name,
      send: (command) => node.send(command),
      drop() {
        if (over) return;
        end();
        node.send({ type: 'close', keep: false });
        node.close().catch(onError);
      },
      async finish() {
        if (over || lastWord !== null) return;
        stopTracks();
        await new Promise<void>((resolve) => {
          const stop = clock.setTimer(lastWordMs, resolve);
          lastWord = () => {
            stop();
            resolve();
          };
          node.send({ type: 'close', keep: true });
        });
        if (over) return;
        end();
        node.close().catch(onError);
      },
    };
  }
}

async function streamOf(media: Media, id: string, name: string): Promise<MediaStream> {
  // The models were measured on plain sound: the browser only takes our own voice out of it and evens the level.
  const wish = { channelCount: 1, echoCancellation: true, noiseSuppression: false, autoGainControl: true };
  try {
    return await media.getUserMedia({ audio: id === '' ? wish : { ...wish, deviceId: { exact: id } } });
  } catch (error) {
    throw new AppError(...codeOf(error, name), { cause: error });
  }
}

function codeOf(error: unknown, device: string): ['MIC_DENIED' | 'MIC_MISSING' | 'MIC_UNREADABLE', Record<string, string>] {
  switch (error instanceof Error || error instanceof DOMException ? error.name : '') {
    case 'NotAllowedError':
    case 'SecurityError':
      return ['MIC_DENIED', {}];
    case 'NotFoundError':
    case 'OverconstrainedError':
      return ['MIC_MISSING', {}];
    default:
      return ['MIC_UNREADABLE', { device }];
  }
}
