// The globals that Node, Electron and every browser we run on have in common; the `lib` of this folder holds the language alone.
declare class TextEncoder {
  encode(text?: string): Uint8Array<ArrayBuffer>;
}
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(bytes?: Uint8Array, options?: { stream?: boolean }): string;
}
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
declare const crypto: { getRandomValues<T extends Uint8Array>(bytes: T): T };
declare function structuredClone<T>(value: T): T;
declare function queueMicrotask(callback: () => void): void;
