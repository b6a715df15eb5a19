import { type Capture, createCapture } from '../../../../src/renderer/audio/capture.ts';
import { openCaptureNode, openPlaybackNode } from '../../../../src/renderer/audio/contexts.ts';
import { choices, listDevices } from '../../../../src/renderer/audio/devices.ts';
import { openPlayback, type Playback } from '../../../../src/renderer/audio/playback.ts';
import { browserClock } from '../../../../src/renderer/lib/browserClock.ts';
import type { SoundChunk } from '../../../../src/shared/domain/audio.ts';
import { AppError } from '../../../../src/shared/errors/appError.ts';
import recorderUrl from './recorder.ts?worker&url';

// The real microphone and loudspeaker code on a page of its own; a test drives it by `window.sound`.

const failure = (error: unknown) =>
  error instanceof AppError ? { code: error.code, data: error.data } : { code: String(error), data: {} };

/** Everything that came of the microphone, in order. */
function microphone() {
  const frames: { seq: number; captureMs: number; zero: boolean; gap: boolean; samples: number[] }[] = [];
  const ends: string[] = [];
  const notices: { code: string }[] = [];
  const phases: string[] = [];
  let levels = 0;
  const capture: Capture = createCapture({
    media: navigator.mediaDevices,
    clock: browserClock,
    openNode: openCaptureNode,
    onFrame: ({ seq, captureMs, zero, gap, samples }) => frames.push({ seq, captureMs, zero, gap, samples: [...samples] }),
    onEnded: (cause) => ends.push(cause),
    onLevel: () => {
      levels += 1;
    },
    onNotice: (error) => notices.push({ code: error.code }),
    onError: (error) => notices.push({ code: String(error) }),
  });
  capture.subscribe(() => phases.push(capture.get().phase));
  return {
    ...capture,
    tryOpen: (device: string | null) => capture.open(device).then(() => null, failure),
    frames,
    ends,
    notices,
    phases,
    levels: () => levels,
  };
}

/** What went to the loudspeaker, by its frames. */
const sink: { frame: number; samples: Float32Array }[] = [];
let recorderReady: Promise<void> = Promise.resolve();
const connect = Reflect.get(AudioNode.prototype, 'connect') as (this: AudioNode, to: AudioNode) => AudioNode;
AudioNode.prototype.connect = function (this: AudioNode, to: AudioNode) {
  if (!(to instanceof AudioDestinationNode) || !(this instanceof AudioWorkletNode)) return connect.call(this, to);
  recorderReady = this.context.audioWorklet.addModule(recorderUrl).then(() => {
    const recorder = new AudioWorkletNode(this.context, 'recorder', { outputChannelCount: [1] });
    recorder.port.onmessage = ({ data }: MessageEvent<{ frame: number; samples: Float32Array }>) => sink.push(data);
    connect.call(this, recorder);
    connect.call(recorder, to);
  });
  return to;
} as typeof AudioNode.prototype.connect;

async function loudspeaker() {
  const events: { type: string; [field: string]: unknown }[] = [];
  const lost: string[] = [];
  const playback: Playback = await openPlayback({
    media: navigator.mediaDevices,
    clock: browserClock,
    openNode: openPlaybackNode,
    onEvent: (event) => events.push(event),
    onLost: (error) => lost.push(error.code),
    onError: (error) => lost.push(String(error)),
  });
  await recorderReady;
  // It records from here on; what is said before might begin without it.
  while (sink.length === 0) await new Promise((resolve) => requestAnimationFrame(resolve));
  return {
    ...playback,
    say: (chunk: Omit<SoundChunk, 'pcm'>, pcm: number[]) => playback.play({ ...chunk, pcm: Float32Array.from(pcm) }),
    tryOutput: (device: string | null) => playback.setOutput(device).then(() => null, failure),
    events,
    lost,
    sink: () => sink.map(({ frame, samples }) => ({ frame, samples: [...samples] })),
  };
}

/** A microphone that gives exactly these samples, at the rate of the context that plays them. */
function playInto(pcm: number[], rateHz: number): { play: () => Promise<void> } {
  const context = new AudioContext({ sampleRate: rateHz });
  const to = context.createMediaStreamDestination();
  const buffer = context.createBuffer(1, pcm.length, rateHz);
  buffer.copyToChannel(Float32Array.from(pcm), 0);
  navigator.mediaDevices.getUserMedia = async () => to.stream;
  return {
    async play() {
      await context.resume();
      const source = context.createBufferSource();
      source.buffer = buffer;
      source.connect(to);
      await new Promise<void>((resolve) => {
        source.onended = () => resolve();
        source.start();
      });
    },
  };
}

const sound = { microphone, loudspeaker, playInto, devices: async () => listDevices(navigator.mediaDevices), choices };
export type Sound = typeof sound;
declare global {
  interface Window {
    sound: Sound;
  }
}
window.sound = sound;
