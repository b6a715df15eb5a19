import { AppError } from '../../shared/errors/appError.ts';
import { FLOAT, monoOf, PCM, type PcmFormat, toPcm16 } from './pcm.ts';

/** A sound file as read: one channel (the mean of two), −1…1. */
export type WavSound = {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRate: number;
  readonly channels: number;
  /** Samples that were no number; they are 0 now (VO-05). */
  readonly repaired: number;
};

const EXTENSIBLE = 0xfffe;

/**
 * Reads a WAV file: PCM of 8, 16, 24 or 32 bits or float of 32 or 64, one or two channels, 8 to 192 kHz. A file that was cut off while
 * recording, or whose sizes were never filled in, is read as far as it goes; half a sample at its end is left out.
 *
 * @throws AppError AUDIO_FORMAT_UNSUPPORTED for anything else, INVALID_AUDIO if it holds no sound.
 * @source Microsoft, "Multiple channel audio data and WAVE files"; RIFF is little-endian.
 */
export function readWav(bytes: Uint8Array): WavSound {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (tag(view, 0) !== 'RIFF' || tag(view, 8) !== 'WAVE') throw unsupported('no WAV file');
  let format: PcmFormat | null = null;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = tag(view, at);
    const size = view.getUint32(at + 4, true);
    const body = at + 8;
    const end = Math.min(bytes.length, body + size);
    if (name === 'fmt ') format = readFormat(view, body, end);
    if (name === 'data') {
      if (format === null) throw new AppError('INVALID_AUDIO', { reason: 'no format before the sound' });
      // 0 and the largest number are what a recorder writes that never came to its end.
      const data = bytes.subarray(body, size === 0 || size === 0xffff_ffff ? bytes.length : end);
      return { ...monoOf(data, format), sampleRate: format.sampleRate, channels: format.channels };
    }
    // Chunks begin at even places.
    at = body + size + (size % 2);
  }
  throw new AppError('INVALID_AUDIO', { reason: 'no sound in the file' });
}

function readFormat(view: DataView, at: number, end: number): PcmFormat {
  if (end - at < 16) throw unsupported('a short header');
  const tagged = view.getUint16(at, true);
  const code = tagged === EXTENSIBLE && end - at >= 40 ? view.getUint16(at + 24, true) : tagged;
  if (code !== PCM && code !== FLOAT) throw unsupported(`format ${code}`);
  const format: PcmFormat = {
    code,
    channels: view.getUint16(at + 2, true),
    sampleRate: view.getUint32(at + 4, true),
    bits: view.getUint16(at + 14, true),
  };
  const known = code === PCM ? [8, 16, 24, 32] : [32, 64];
  if (!known.includes(format.bits)) throw unsupported(`format ${code} with ${format.bits} bits`);
  if (format.channels < 1 || format.channels > 2) throw unsupported(`${format.channels} channels`);
  if (format.sampleRate < 8_000 || format.sampleRate > 192_000) throw unsupported(`${format.sampleRate} Hz`);
  return format;
}

/** A mono WAV file with 16 bits a sample. */
export function writeWav(samples: Float32Array, sampleRate: number): Uint8Array<ArrayBuffer> {
  const data = toPcm16(samples);
  const bytes = new Uint8Array(44 + data.length);
  const view = new DataView(bytes.buffer);
  const text = (at: number, word: string) => {
    for (let i = 0; i < word.length; i += 1) view.setUint8(at + i, word.charCodeAt(i));
  };
  text(0, 'RIFF');
  view.setUint32(4, 36 + data.length, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, PCM, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, data.length, true);
  bytes.set(data, 44);
  return bytes;
}

function tag(view: DataView, at: number): string {
  if (at + 4 > view.byteLength) return '';
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
}

function unsupported(format: string): AppError {
  return new AppError('AUDIO_FORMAT_UNSUPPORTED', { format });
}
