// What an AudioWorkletGlobalScope has; TypeScript's DOM library leaves it out.
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(
  name: string,
  processor: new (options: {
    processorOptions: unknown;
  }) => AudioWorkletProcessor & {
    process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean;
  },
): void;
/** Of the context. */
declare const sampleRate: number;
/** Of the first sample of the quantum that is being processed. */
declare const currentFrame: number;
