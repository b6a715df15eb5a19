import { frameBytes, maxChunkBytes } from '../util/audioWire.ts';
import { maxLineText } from './voiceLine.ts';

/** More than a runtime says on a line before its page listens. */
export const earlyLineMessages = 64;

const maxBytes = { up: frameBytes, down: maxChunkBytes } as const;

/**
 * What came by a voice line, whatever carried it.
 *
 * @param way  up to the runtime, or down to the page.
 * @returns a text of at most `maxLineText` units, or at most a frame's (up) or a chunk's (down) bytes, which are the caller's own; null
 *   for anything else.
 */
export function lineData(way: keyof typeof maxBytes, data: unknown): string | Uint8Array<ArrayBuffer> | null {
  if (typeof data === 'string') return data.length <= maxLineText ? data : null;
  return isBytes(data) && data.byteLength <= maxBytes[way] ? wholeBytes(data) : null;
}

/** By its tag and not by `instanceof`: a port may give arrays of another realm, and no clone carries a false tag. */
const isBytes = (data: unknown): data is Uint8Array => Object.prototype.toString.call(data) === '[object Uint8Array]';

/**
 * The same bytes in a buffer that holds nothing else: a child's channel delivers views of its whole read buffer, and a structured clone
 * of a view takes all that lies beside it along.
 */
export function wholeBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  // A Buffer counts as one with others around it: its type would not survive the next process.
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength && bytes.constructor === Uint8Array
    ? new Uint8Array(buffer)
    : Uint8Array.from(bytes);
}
