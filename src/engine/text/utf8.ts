/** Bytes in any cut to whole characters. */
export type Utf8Joiner = {
  /** Characters that are complete now; half of one waits for its rest (GE-06). Bytes that can never be valid become U+FFFD. */
  push(bytes: Uint8Array): string;
  /** What still waits: U+FFFD for half a character (BC-11), else ''. Ready for a new text. */
  end(): string;
};

/** @source Encoding Standard, "UTF-8 decode", in streaming form: https://encoding.spec.whatwg.org/#utf-8-decoder */
export function createUtf8Joiner(): Utf8Joiner {
  // A mark at the beginning is text that the model wrote, not an encoding mark to drop.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return {
    push: (bytes) => decoder.decode(bytes, { stream: true }),
    end: () => decoder.decode(),
  };
}
