import { audio, type SoundChunk } from '../../shared/domain/audio.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { Clock } from '../../shared/util/clock.ts';
import { listDevices, type Media, pickDevice, watchDevices } from './devices.ts';
import type { PlaybackCommand, PlaybackMessage } from './messages.ts';
import type { PlaybackEvent } from './playbackCore.ts';
import type { Heard } from './speechQueue.ts';
import { makeTone, type ToneKind } from './tones.ts';

export type PlaybackNode = {
  /** Of the loudspeaker's clock, in which all events count their frames. */
  readonly rateHz: number;
  send(command: PlaybackCommand, transfer: ArrayBuffer[]): void;
  resume(): Promise<void>;
  /** Beside the speech and not part of it: nothing is reported of it. @param pcm at `rateHz`. */
  playTone(pcm: Float32Array<ArrayBuffer>): void;
  /** @param id '' for the system's own. */
  setOutput(id: string): Promise<void>;
  close(): Promise<void>;
};

export type PlaybackDeps = {
  /** Undefined where the page is no secure context; sound can be played all the same. */
  readonly media: Media | undefined;
  readonly clock: Clock;
  readonly openNode: (onMessage: (message: PlaybackMessage) => void) => Promise<PlaybackNode>;
  /** In the order in which it happened. A lost loudspeaker counts as `drained` (VO-65). */
  readonly onEvent: (event: PlaybackEvent) => void;
  /** DEVICE_LOST, once; the rest of the answer is captions. */
  readonly onLost: (error: AppError) => void;
  readonly onError: (error: unknown) => void;
};

export type Stopped = { readonly frame: number; readonly heard: Heard | null };

export type Playback = {
  readonly rateHz: number;
  /** The chunk's samples are handed over; the caller's array is empty afterwards. */
  play(chunk: SoundChunk): void;
  /** No more chunks of this generation come. */
  finish(generation: number): void;
  /** Silence at once, for this generation and all before it. @returns what had been heard, and from which frame on there is silence. */
  stop(generation: number): Promise<Stopped>;
  pause(): void;
  resume(): void;
  tone(kind: ToneKind): void;
  /**
   * @param device  a loudspeaker's name, null for the system's own. One that is not there leaves the system's own.
   * @throws AppError DEVICE_LOST if it is not there or cannot be used.
   */
  setOutput(device: string | null): Promise<void>;
  close(): Promise<void>;
};

/**
 * The loudspeaker of the page. Needs a deed of the person before it, as browsers ask.
 *
 * @throws AppError DEVICE_LOST if there is no loudspeaker.
 */
export async function openPlayback(deps: PlaybackDeps): Promise<Playback> {
  const { clock, media } = deps;
  const lostError = (cause?: unknown) => new AppError('DEVICE_LOST', { kind: 'output' }, { cause });
  let waiting: ((stopped: Stopped) => void)[] = [];
  /** Chunks that were given and have not ended, by generation. */
  let ahead: { generation: number; chunks: number } = { generation: -1, chunks: 0 };
  let paused = false;
  /** The loudspeaker waits for us, not we for it. */
  let starving = false;
  let closed = false;
  /** What is left of an answer whose loudspeaker was lost is captions. */
  let lostUpTo = -1;
  let stopTimer = () => {};
  /** As the system lists them; without any, Chromium plays into the void and says nothing. Not known until it was asked. */
  let outputs: number | null = null;

  const expectProgress = () => {
    stopTimer();
    if (ahead.chunks > 0 && !paused && !starving && !closed) stopTimer = clock.setTimer(audio.noProgressMs, () => lose());
  };
  const settle = (stopped: Stopped) => {
    const all = waiting;
    waiting = [];
    for (const resolve of all) resolve(stopped);
  };
  const node = await deps.openNode((event) => {
    if (closed) return;
    if (event.type === 'stopped') settle(event);
    starving = event.type === 'underrun';
    if (event.type === 'refused' || (event.type === 'played' && event.done)) {
      if (event.generation === ahead.generation) ahead.chunks = Math.max(0, ahead.chunks - 1);
    }
    expectProgress();
    deps.onEvent(event);
  });
  const lose = () => {
    const { generation } = ahead;
    ahead = { generation, chunks: 0 };
    lostUpTo = generation;
    stopTimer();
    node.send({ type: 'stop', generation }, []);
    deps.onLost(lostError());
    deps.onEvent({ type: 'drained', generation, frame: 0 });
  };
  const unwatch =
    media === undefined
      ? () => {}
      : watchDevices(
          media,
          (devices) => {
            outputs = devices.outputs.length;
            if (outputs === 0 && ahead.chunks > 0) lose();
          },
          deps.onError,
        );
  return {
    rateHz: node.rateHz,
    play(chunk) {
      if (closed || chunk.generation <= lostUpTo) return;
      if (chunk.generation !== ahead.generation) ahead = { generation: chunk.generation, chunks: 0 };
      ahead.chunks += 1;
      if (outputs === 0) return lose();
      if (ahead.chunks === 1 || starving) {
        starving = false;
        // Until a deed of the person a browser holds the context; it runs already if there was one.
        node.resume().catch(deps.onError);
        expectProgress();
      }
      node.send({ type: 'enqueue', chunk }, [chunk.pcm.buffer]);
    },
    finish(generation) {
      if (!closed) node.send({ type: 'finish', generation }, []);
    },
    async stop(generation) {
      if (closed) return { frame: 0, heard: null };
      if (ahead.generation <= generation) ahead = { generation: ahead.generation, chunks: 0 };
      paused = false;
      expectProgress();
      return new Promise<Stopped>((resolve) => {
        const giveUp = clock.setTimer(audio.noProgressMs, () => settle({ frame: 0, heard: null }));
        waiting.push((stopped) => {
          giveUp();
          resolve(stopped);
        });
        node.send({ type: 'stop', generation }, []);
      });
    },
    pause() {
      paused = true;
      stopTimer();
      if (!closed) node.send({ type: 'pause' }, []);
    },
    resume() {
      paused = false;
      if (!closed) node.send({ type: 'resume' }, []);
      expectProgress();
    },
    tone(kind) {
      if (closed) return;
      node.resume().catch(deps.onError);
      node.playTone(makeTone(kind, node.rateHz));
    },
    async setOutput(device) {
      const found = media === undefined ? null : pickDevice((await listDevices(media)).outputs, device);
      const isChosen = device === null || found?.name === device;
      try {
        await node.setOutput(device === null || found === null || !isChosen ? '' : found.id);
      } catch (error) {
        if (error instanceof AppError) throw error;
        throw lostError(error);
      }
      if (!isChosen) throw lostError();
    },
    async close() {
      if (closed) return;
      closed = true;
      stopTimer();
      unwatch();
      settle({ frame: 0, heard: null });
      await node.close();
    },
  };
}
