import { createCaptureCore } from '../captureCore.ts';
import { type CaptureCommand, type CaptureMessage, processors, quantum } from '../messages.ts';

registerProcessor(
  processors.capture,
  class extends AudioWorkletProcessor {
    private closed = false;
    private readonly core = createCaptureCore(sampleRate, (event) => {
      this.tell(event, event.type === 'frame' ? [event.frame.samples.buffer] : []);
    });

    constructor() {
      super();
      this.port.onmessage = ({ data }: MessageEvent<CaptureCommand>) => {
        switch (data.type) {
          case 'begin':
            return this.core.begin(data.preRollMs);
          case 'end':
            return this.core.end(data.tailMs);
          case 'close':
            this.closed = true;
            this.core.close(data.keep);
            return this.tell({ type: 'closed', counts: this.core.counts() }, []);
        }
      };
    }

    private tell(message: CaptureMessage, transfer: ArrayBuffer[]): void {
      this.port.postMessage(message, transfer);
    }

    process(inputs: Float32Array[][]): boolean {
      const channel = inputs[0]?.[0];
      this.core.process(channel ?? null, channel?.length ?? quantum);
      return !this.closed;
    }
  },
);
