import { AppError } from '../../shared/errors/appError.ts';

/** 16-bit little-endian PCM as samples in −1…1. @throws AppError INVALID_AUDIO if half a sample is left over. */
export function fromPcm16(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  if (bytes.length % 2 !== 0) throw new AppError('INVALID_AUDIO', { reason: 'half a sample' });
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return new Float32Array(bytes.length / 2).map((_, i) => view.getInt16(i * 2, true) / 0x8000);
}

/** Samples as 16-bit little-endian PCM; what is beyond −1…1 is cut off. */
export function toPcm16(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(samples.length * 2);
  const view = new DataView(bytes.buffer);
  for (const [i, value] of samples.entries()) {
    view.setInt16(i * 2, Math.max(-0x8000, Math.min(0x7fff, Math.round((Number.isFinite(value) ? value : 0) * 0x8000))), true);
  }
  return bytes;
}

export const PCM = 1;
export const FLOAT = 3;

/** How the samples of a sound lie in its bytes, little-endian; `code` as in a WAV file. */
export type PcmFormat = {
  readonly code: typeof PCM | typeof FLOAT;
  readonly channels: number;
  readonly sampleRate: number;
  /** PCM: 8, 16, 24, 32. Float: 32, 64. */
  readonly bits: number;
};

/** Bytes of one moment of a sound: a sample of each channel. */
export const momentBytes = ({ channels, bits }: PcmFormat): number => (channels * bits) / 8;

/**
 * The mean of all channels, −1…1; a sample that is no number becomes 0 and is counted (VO-05).
 *
 * @param bytes  may begin at any place of its buffer. What is left over at the end is no whole moment and left out.
 */
export function monoOf(bytes: Uint8Array, format: PcmFormat): { samples: Float32Array<ArrayBuffer>; repaired: number } {
  const { code, channels, bits } = format;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const samples = new Float32Array(Math.floor(bytes.length / momentBytes(format)));
  let repaired = 0;
  for (let i = 0; i < samples.length; i += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += sampleAt(view, ((i * channels + channel) * bits) / 8, code, bits);
    const value = sum / channels;
    if (!Number.isFinite(value)) repaired += 1;
    else samples[i] = Math.max(-1, Math.min(1, value));
  }
  return { samples, repaired };
}

function sampleAt(view: DataView, at: number, code: PcmFormat['code'], bits: number): number {
  if (code === FLOAT) return bits === 32 ? view.getFloat32(at, true) : view.getFloat64(at, true);
  // Eight bits have no sign.
  if (bits === 8) return (view.getUint8(at) - 128) / 128;
  if (bits === 16) return view.getInt16(at, true) / 0x8000;
  if (bits === 24) return (view.getUint8(at) | (view.getUint8(at + 1) << 8) | (view.getInt8(at + 2) << 16)) / 0x80_0000;
  return view.getInt32(at, true) / 0x8000_0000;
}
