import { type CaptureEvent, createCaptureCore } from '../../../src/renderer/audio/captureCore.ts';
import { createPlaybackCore, type PlaybackEvent } from '../../../src/renderer/audio/playbackCore.ts';
import type { Voice } from '../../../src/runtime/voice/ports.ts';
import { type LineDown, type LineUp, parseLineDown } from '../../../src/shared/contract/voiceLine.ts';
import { assertNever } from '../../../src/shared/util/assertNever.ts';
import { decodeChunk, encodeFrame } from '../../../src/shared/util/audioWire.ts';
import { type Deferred, deferred } from '../../../src/shared/util/deferred.ts';
import { noise } from '../../helpers/audio.ts';

/** Of the devices. A quantum is what a worklet gets at once. */
const RATE = 48_000;
const QUANTUM = 128;
const QUANTUM_MS = (QUANTUM * 1_000) / RATE;

export type Asked = {
  /** From the last sample of what was said, which is also when the key goes up, to the first sample that is not silent. */
  readonly waitMs: number;
};

export type TimedPage = {
  /**
   * Holds the talk key while this sounds, and waits for the first sound of the answer.
   *
   * @param said  48 kHz mono.
   */
  ask(said: Float32Array): Promise<Asked>;
  /** Everything that was made has sounded. */
  drained(): Promise<void>;
  underruns(): number;
  [Symbol.dispose](): void;
};

/**
 * A page with a microphone and a loudspeaker that keep real time: the worklets' own cores, 128 samples at a time, and the voice line in
 * memory with copied messages.
 */
export async function timedPage(voice: Pick<Voice, 'connect' | 'arm'>): Promise<TimedPage> {
  const room = noise(-70, 1_000, RATE);
  const out = new Float32Array(QUANTUM);
  let source: { samples: Float32Array; at: number; done: (ms: number) => void } | null = null;
  let toRuntime: (data: unknown) => void = () => {};
  let firstSound: Deferred<number> | null = null;
  let allPlayed: Deferred<void> | null = null;
  let underruns = 0;
  let line = '';

  const send = (data: string | Uint8Array) => {
    const copy: unknown = structuredClone(data);
    queueMicrotask(() => toRuntime(copy));
  };
  const up = (message: LineUp) => send(JSON.stringify(message));
  const capture = createCaptureCore(RATE, (event: CaptureEvent) => {
    if (event.type === 'frame') send(encodeFrame(event.frame));
    if (event.type === 'ended') up({ t: 'ended' });
  });
  const playback = createPlaybackCore(RATE, QUANTUM, (event: PlaybackEvent) => {
    switch (event.type) {
      case 'played': {
        const { generation, phrase, range, ms, done } = event;
        return up({ t: 'played', generation, heard: { phrase, from: range.from, to: range.to, ms }, done });
      }
      case 'drained':
        allPlayed?.resolve();
        return up({ t: 'drained', generation: event.generation });
      case 'underrun':
        underruns += 1;
        return;
      case 'stopped':
      case 'paused':
      case 'refused':
        return;
    }
  });
  const down = (message: LineDown) => {
    switch (message.t) {
      case 'line':
        line = message.id;
        return;
      case 'openMic':
        up({ t: 'mic', state: 'opened', device: 'bench' });
        return up({ t: 'mic', state: 'live', device: 'bench' });
      case 'begin':
        return capture.begin(message.preRollMs);
      case 'end':
        return capture.end(message.tailMs);
      case 'finish':
        return playback.finish(message.generation);
      case 'stop':
        return playback.stop(message.generation);
      case 'pause':
        return playback.pause();
      case 'resume':
        return playback.resume();
      case 'closeMic':
      case 'cue':
        return;
      default:
        assertNever(message);
    }
  };
  voice.connect({
    send(data) {
      const copy = structuredClone(data);
      queueMicrotask(() => {
        if (typeof copy === 'string') down(parseLineDown(copy));
        else playback.enqueue(decodeChunk(copy));
      });
    },
    onMessage: (listener) => {
      toRuntime = listener;
    },
    onClose: () => {},
    close: () => {},
  });
  await Promise.resolve();

  const beganMs = performance.now();
  let quanta = 0;
  const quantum = () => {
    const pcm = new Float32Array(QUANTUM);
    for (let i = 0; i < QUANTUM; i += 1) pcm[i] = (source?.samples[source.at + i] ?? 0) + (room[(quanta * QUANTUM + i) % room.length] ?? 0);
    capture.process(pcm, QUANTUM);
    if (source !== null) {
      source.at += QUANTUM;
      if (source.at >= source.samples.length) {
        const { done } = source;
        source = null;
        done(performance.now());
      }
    }
    playback.process(out, quanta * QUANTUM);
    if (firstSound !== null && out.some((x) => Math.abs(x) > 1e-4)) {
      firstSound.resolve(performance.now());
      firstSound = null;
    }
    quanta += 1;
  };
  const device = setInterval(() => {
    const due = Math.floor((performance.now() - beganMs) / QUANTUM_MS);
    while (quanta < due) quantum();
  }, 2);
  await voice.arm({ line, mode: 'push-to-talk' });

  const say = (samples: Float32Array) =>
    new Promise<number>((resolve) => {
      source = { samples, at: 0, done: resolve };
    });
  const key = (isDown: boolean) => up({ t: 'key', key: 'talk', down: isDown, sessionId: null });
  return {
    async ask(said) {
      key(true);
      const sound = deferred<number>();
      const endedMs = await say(said);
      firstSound = sound;
      allPlayed = deferred<void>();
      key(false);
      return { waitMs: (await sound.promise) - endedMs };
    },
    async drained() {
      await allPlayed?.promise;
    },
    underruns: () => underruns,
    [Symbol.dispose]: () => clearInterval(device),
  };
}
