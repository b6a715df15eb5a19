/// <reference types="vite/client" />
// Lies between a playback worklet and its loudspeaker: passes everything on, and tells each quantum with its frame.
declare const currentFrame: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: unknown): void;

registerProcessor(
  'recorder',
  class extends AudioWorkletProcessor {
    process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean {
      const [from, to] = [inputs[0]?.[0], outputs[0]?.[0]];
      if (from === undefined || to === undefined) return true;
      to.set(from);
      this.port.postMessage({ frame: currentFrame, samples: from.slice() });
      return true;
    }
  },
);
