import { type PlaybackCommand, type PlaybackMessage, processors, quantum } from '../messages.ts';
import { createPlaybackCore } from '../playbackCore.ts';

registerProcessor(
  processors.playback,
  class extends AudioWorkletProcessor {
    private readonly core = createPlaybackCore(sampleRate, quantum, (event: PlaybackMessage) => this.port.postMessage(event));

    constructor() {
      super();
      this.port.onmessage = ({ data }: MessageEvent<PlaybackCommand>) => {
        switch (data.type) {
          case 'enqueue':
            return this.core.enqueue(data.chunk);
          case 'finish':
            return this.core.finish(data.generation);
          case 'stop':
            return this.core.stop(data.generation);
          case 'pause':
            return this.core.pause();
          case 'resume':
            return this.core.resume();
        }
      };
    }

    process(_inputs: Float32Array[][], outputs: Float32Array[][]): boolean {
      const channel = outputs[0]?.[0];
      if (channel !== undefined) this.core.process(channel, currentFrame);
      return true;
    }
  },
);
