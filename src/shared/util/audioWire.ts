import { type AudioFrame, audio, type SoundChunk } from '../domain/audio.ts';
import { AppError } from '../errors/appError.ts';

// The binary messages of the served page's audio socket: JSON would lose the typed arrays, and take six times the room. Little endian
// throughout, as every machine is that Sotto runs on; the header keeps the samples on a multiple of four.
//
//   microphone, up          sound, down
//   0  u8  version          0  u8  version
//   1  u8  kind 1           1  u8  kind 2
//   2  u16 flags            2  u16 flags
//   4  u32 seq              4  u32 generation
//   8  f64 captureMs        8  u32 phrase
//  16  512 × f32           12  u32 rateHz
//                          16  u32 text from
//                          20  u32 text to
//                          24  u32 samples
//                          28  samples × f32

const version = 1;
const kinds = { frame: 1, chunk: 2 } as const;
const flags = { clipped: 1, zero: 2, gap: 4 } as const;
const last = 1;
const frameHeader = 16;
const chunkHeader = 28;

export const frameBytes = frameHeader + audio.frameSamples * 4;
/** Of the longest chunk at the highest rate: what a receiver has to take at most. */
export const maxChunkBytes = chunkHeader + ((audio.maxChunkMs * audio.maxRateHz) / 1_000) * 4;

const refuse = (reason: string) => new AppError('INVALID_AUDIO', { reason });
const isU32 = (value: number) => Number.isInteger(value) && value >= 0 && value <= 0xffff_ffff;

/**
 * @returns 2,064 bytes; the frame's samples are copied.
 * @throws AppError INVALID_AUDIO if the frame has another length than 512 samples, or a number that does not fit.
 */
export function encodeFrame(frame: AudioFrame): Uint8Array<ArrayBuffer> {
  if (frame.samples.length !== audio.frameSamples) throw refuse('frame length');
  if (!isU32(frame.seq) || !isTime(frame.captureMs)) throw refuse('frame number');
  const bytes = new Uint8Array(frameBytes);
  const view = header(bytes, kinds.frame);
  view.setUint16(2, (frame.clipped ? flags.clipped : 0) | (frame.zero ? flags.zero : 0) | (frame.gap ? flags.gap : 0), true);
  view.setUint32(4, frame.seq, true);
  view.setFloat64(8, frame.captureMs, true);
  new Float32Array(bytes.buffer, frameHeader).set(frame.samples);
  return bytes;
}

/**
 * @param bytes  one whole message of the socket, at any offset of its buffer; not kept.
 * @throws AppError INVALID_AUDIO for another length, version or kind, an unknown flag, or a time that is none.
 */
export function decodeFrame(bytes: Uint8Array): AudioFrame {
  if (bytes.byteLength !== frameBytes) throw refuse('frame length');
  const view = opened(bytes, kinds.frame);
  const bits = view.getUint16(2, true);
  const captureMs = view.getFloat64(8, true);
  if (bits > 7) throw refuse('frame flags');
  if (!isTime(captureMs)) throw refuse('frame time');
  return {
    seq: view.getUint32(4, true),
    captureMs,
    clipped: (bits & flags.clipped) !== 0,
    zero: (bits & flags.zero) !== 0,
    gap: (bits & flags.gap) !== 0,
    samples: floats(bytes, frameHeader),
  };
}

/** @throws AppError INVALID_AUDIO if a number does not fit, the text range runs backwards, or the sound is longer than a chunk may be. */
export function encodeChunk(chunk: SoundChunk): Uint8Array<ArrayBuffer> {
  check(chunk);
  const bytes = new Uint8Array(chunkHeader + chunk.pcm.length * 4);
  const view = header(bytes, kinds.chunk);
  view.setUint16(2, chunk.last ? last : 0, true);
  const numbers = [chunk.generation, chunk.phrase, chunk.rateHz, chunk.range.from, chunk.range.to, chunk.pcm.length];
  numbers.forEach((number, i) => view.setUint32(4 + i * 4, number, true));
  new Float32Array(bytes.buffer, chunkHeader).set(chunk.pcm);
  return bytes;
}

/** @throws AppError INVALID_AUDIO as `encodeChunk`, and for a length that is not the one the header names. */
export function decodeChunk(bytes: Uint8Array): SoundChunk {
  if (bytes.byteLength < chunkHeader) throw refuse('chunk length');
  const view = opened(bytes, kinds.chunk);
  const bits = view.getUint16(2, true);
  if (bits > last) throw refuse('chunk flags');
  // Before anything of that size is made.
  if (bytes.byteLength !== chunkHeader + view.getUint32(24, true) * 4) throw refuse('chunk length');
  const u32 = (offset: number) => view.getUint32(offset, true);
  const chunk: SoundChunk = {
    generation: u32(4),
    phrase: u32(8),
    last: bits === last,
    range: { from: u32(16), to: u32(20) },
    rateHz: u32(12),
    pcm: floats(bytes, chunkHeader),
  };
  check(chunk);
  return chunk;
}

function check(chunk: SoundChunk): void {
  const { range, rateHz } = chunk;
  if (!isU32(chunk.generation) || !isU32(chunk.phrase) || !isU32(range.from) || !isU32(range.to)) throw refuse('chunk number');
  if (range.to < range.from) throw refuse('chunk range');
  if (!Number.isInteger(rateHz) || rateHz < audio.minRateHz || rateHz > audio.maxRateHz) throw refuse('chunk rate');
  if (chunk.pcm.length > (audio.maxChunkMs * rateHz) / 1_000) throw refuse('chunk length');
}

const isTime = (ms: number) => Number.isFinite(ms) && ms >= 0;

function header(bytes: Uint8Array<ArrayBuffer>, kind: number): DataView {
  bytes[0] = version;
  bytes[1] = kind;
  return new DataView(bytes.buffer);
}

function opened(bytes: Uint8Array, kind: number): DataView {
  if (bytes[0] !== version) throw refuse('version');
  if (bytes[1] !== kind) throw refuse('kind');
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// Copied: the message may begin at an odd byte, where no Float32Array can lie.
const floats = (bytes: Uint8Array, from: number) => new Float32Array(Uint8Array.from(bytes.subarray(from)).buffer);
