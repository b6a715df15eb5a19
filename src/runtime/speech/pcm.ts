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
