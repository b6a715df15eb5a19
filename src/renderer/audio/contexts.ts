import { AppError } from '../../shared/errors/appError.ts';
import type { CaptureNode } from './captureLine.ts';
import { type CaptureCommand, type CaptureMessage, type PlaybackCommand, type PlaybackMessage, processors } from './messages.ts';
import type { PlaybackNode } from './playback.ts';
// Files of their own: the page's policy allows no script from a blob or from text.
import captureUrl from './worklets/capture.ts?worker&url';
import playbackUrl from './worklets/playback.ts?worker&url';

/** `setSinkId` is in both engines that we run on, and not yet in TypeScript's DOM library. */
type WithSink = AudioContext & { setSinkId?: (id: string) => Promise<void> };

/** Puts a stream into a capture worklet. The context runs at the device's rate: the worklet makes 16 kHz of it. */
export async function openCaptureNode(stream: MediaStream, onMessage: (message: CaptureMessage) => void): Promise<CaptureNode> {
  const context = new AudioContext({ latencyHint: 'interactive' });
  try {
    await context.audioWorklet.addModule(captureUrl);
    await context.resume();
  } catch (error) {
    await context.close();
    throw error;
  }
  const source = context.createMediaStreamSource(stream);
  const node = new AudioWorkletNode(context, processors.capture, {
    numberOfInputs: 1,
    numberOfOutputs: 0,
    channelCount: 1,
    channelCountMode: 'explicit',
    channelInterpretation: 'speakers',
  });
  node.port.onmessage = ({ data }: MessageEvent<CaptureMessage>) => onMessage(data);
  source.connect(node);
  return {
    send: (command: CaptureCommand) => node.port.postMessage(command),
    async close() {
      source.disconnect();
      await context.close();
    },
  };
}

/** A playback worklet on the loudspeaker that the system chose. @throws AppError DEVICE_LOST if there can be none. */
export async function openPlaybackNode(onMessage: (message: PlaybackMessage) => void): Promise<PlaybackNode> {
  let context: WithSink;
  try {
    context = new AudioContext({ latencyHint: 'interactive' });
  } catch (error) {
    throw new AppError('DEVICE_LOST', { kind: 'output' }, { cause: error });
  }
  try {
    await context.audioWorklet.addModule(playbackUrl);
  } catch (error) {
    await context.close();
    throw error;
  }
  const node = new AudioWorkletNode(context, processors.playback, {
    numberOfInputs: 0,
    numberOfOutputs: 1,
    outputChannelCount: [1],
  });
  node.port.onmessage = ({ data }: MessageEvent<PlaybackMessage>) => onMessage(data);
  node.connect(context.destination);
  return {
    rateHz: context.sampleRate,
    send: (command: PlaybackCommand, transfer: ArrayBuffer[]) => node.port.postMessage(command, transfer),
    resume: () => context.resume(),
    playTone(pcm) {
      const buffer = context.createBuffer(1, pcm.length, context.sampleRate);
      buffer.copyToChannel(pcm, 0);
      const source = context.createBufferSource();
      source.buffer = buffer;
      source.connect(context.destination);
      source.start();
    },
    async setOutput(id) {
      if (context.setSinkId === undefined) throw new AppError('UNSUPPORTED', { what: 'choosing a loudspeaker' });
      await context.setSinkId(id);
    },
    async close() {
      node.disconnect();
      await context.close();
    },
  };
}
