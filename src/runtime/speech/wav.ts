import { AppError } from '../../shared/errors/appError.ts';
import { toPcm16 } from './pcm.ts';

/** A sound file as read: one channel (the mean of two), −1…1. */
export type WavSound = {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRate: number;
  readonly channels: number;
  /** Samples that were no number; they are 0 now (VO-05). */
  readonly repaired: number;
};

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;

type Format = { readonly code: number; readonly channels: number; readonly sampleRate: number; readonly bits: number };

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
  let format: Format | null = null;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = tag(view, at);
    const size = view.getUint32(at + 4, true);
    const body = at + 8;
    const end = Math.min(bytes.length, body + size);
    if (name === 'fmt ') format = readFormat(view, body, end);
    if (name === 'data') {
      if (format === null) throw new AppError('INVALID_AUDIO', { reason: 'no format before the sound' });
      // 0 and the largest number are what a recorder writes that never came to its end.
      return readData(view, body, size === 0 || size === 0xffff_ffff ? bytes.length : end, format);
    }
    // Chunks begin at even places.
    at = body + size + (size % 2);
  }
  throw new AppError('INVALID_AUDIO', { reason: 'no sound in the file' });
}

function readFormat(view: DataView, at: number, end: number): Format {
  if (end - at < 16) throw unsupported('a short header');
  const tagged = view.getUint16(at, true);
  const code = tagged === EXTENSIBLE && end - at >= 40 ? view.getUint16(at + 24, true) : tagged;
  const format = {
    code,
    channels: view.getUint16(at + 2, true),
    sampleRate: view.getUint32(at + 4, true),
    bits: view.getUint16(at + 14, true),
  };
  const known = code === PCM ? [8, 16, 24, 32] : code === FLOAT ? [32, 64] : [];
  if (!known.includes(format.bits)) throw unsupported(`format ${code} with ${format.bits} bits`);
  if (format.channels < 1 || format.channels > 2) throw unsupported(`${format.channels} channels`);
  if (format.sampleRate < 8_000 || format.sampleRate > 192_000) throw unsupported(`${format.sampleRate} Hz`);
  return format;
}

function readData(view: DataView, start: number, end: number, { code, channels, sampleRate, bits }: Format): WavSound {
  const width = bits / 8;
  const length = Math.floor((end - start) / (width * channels));
  const samples = new Float32Array(length);
  let repaired = 0;
  for (let i = 0; i < length; i += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += sampleAt(view, start + (i * channels + channel) * width, code, bits);
    const value = sum / channels;
    if (!Number.isFinite(value)) repaired += 1;
    else samples[i] = Math.max(-1, Math.min(1, value));
  }
  return { samples, sampleRate, channels, repaired };
}

function sampleAt(view: DataView, at: number, code: number, bits: number): number {
  if (code === FLOAT) return bits === 32 ? view.getFloat32(at, true) : view.getFloat64(at, true);
  // Eight bits have no sign.
  if (bits === 8) return (view.getUint8(at) - 128) / 128;
  if (bits === 16) return view.getInt16(at, true) / 0x8000;
  if (bits === 24) return (view.getUint8(at) | (view.getUint8(at + 1) << 8) | (view.getInt8(at + 2) << 16)) / 0x80_0000;
  return view.getInt32(at, true) / 0x8000_0000;
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
