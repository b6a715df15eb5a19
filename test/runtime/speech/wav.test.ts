import { describe, expect, it } from 'vitest';
import { fromPcm16, toPcm16 } from '../../../src/runtime/speech/pcm.ts';
import { readWav, writeWav } from '../../../src/runtime/speech/wav.ts';

type Kind = { code: number; bits: number; channels?: number; rate?: number; extensible?: boolean };

/** A WAV file of the values, written by hand. */
function wavOf(values: readonly number[], { code, bits, channels = 1, rate = 16_000, extensible = false }: Kind, chunks: Buffer[] = []) {
  const width = bits / 8;
  const data = Buffer.alloc(values.length * width);
  for (const [i, value] of values.entries()) {
    const at = i * width;
    if (code === 3 && bits === 32) data.writeFloatLE(value, at);
    else if (code === 3) data.writeDoubleLE(value, at);
    else if (bits === 8) data.writeUInt8(Math.round(value * 127) + 128, at);
    else data.writeIntLE(Math.round(value * (2 ** (bits - 1) - 1)), at, width);
  }
  const format = Buffer.alloc(extensible ? 40 : 16);
  format.writeUInt16LE(extensible ? 0xfffe : code, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt32LE(rate * channels * width, 8);
  format.writeUInt16LE(channels * width, 12);
  format.writeUInt16LE(bits, 14);
  if (extensible) format.writeUInt16LE(code, 24);
  return Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), chunk('fmt ', format), ...chunks, chunk('data', data)]);
}

function chunk(name: string, body: Buffer, size = body.length): Buffer {
  const head = Buffer.alloc(8, name);
  head.writeUInt32LE(size, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

const wave = [0, 0.5, -0.5, 0.25, 1, -1];

describe('reading a WAV file', () => {
  it.each([
    [{ code: 1, bits: 8 }, 1],
    [{ code: 1, bits: 16 }, 4],
    [{ code: 1, bits: 24 }, 5],
    [{ code: 1, bits: 32 }, 5],
    [{ code: 3, bits: 32 }, 6],
    [{ code: 3, bits: 64 }, 6],
    [{ code: 1, bits: 24, extensible: true }, 5],
  ])('%j gives the same wave', (kind, digits) => {
    const { samples, sampleRate, repaired } = readWav(wavOf(wave, kind));
    expect([sampleRate, repaired, samples.length]).toEqual([16_000, 0, wave.length]);
    for (const [i, value] of wave.entries()) expect(samples[i]).toBeCloseTo(value, digits);
  });

  it('two channels become their mean, and foreign chunks of odd length are passed over', () => {
    const { samples, channels } = readWav(
      wavOf([0.5, -0.5, 0.5, 0.25], { code: 3, bits: 32, channels: 2 }, [chunk('LIST', Buffer.from('odd'))]),
    );
    expect([channels, ...samples]).toEqual([2, 0, 0.375]);
  });

  it('reads from the middle of a larger buffer', () => {
    const whole = Buffer.concat([Buffer.from('x'), wavOf(wave, { code: 1, bits: 16 })]);
    expect(readWav(whole.subarray(1)).samples).toHaveLength(wave.length);
  });

  it.each([8_000, 11_025, 44_100, 192_000])('%i Hz is read', (rate) => {
    expect(readWav(wavOf(wave, { code: 1, bits: 16, rate })).sampleRate).toBe(rate);
  });

  it('VO-05: samples that are no numbers are silence and counted; what is too loud is cut', () => {
    const { samples, repaired } = readWav(wavOf([Number.NaN, Number.POSITIVE_INFINITY, 3, -3, 0.5], { code: 3, bits: 32 }));
    expect([repaired, ...samples]).toEqual([2, 0, 0, 1, -1, 0.5]);
  });

  it('a file that was cut off, or whose size was never written, is read as far as it goes, without half a sample', () => {
    const file = wavOf(wave, { code: 1, bits: 16 });
    expect(readWav(file.subarray(0, file.length - 3)).samples).toHaveLength(wave.length - 2);
    for (const size of [0, 0xffff_ffff]) {
      file.writeUInt32LE(size, 40);
      expect(readWav(file).samples).toHaveLength(wave.length);
    }
  });

  it.each([
    ['an empty file', Buffer.alloc(0), 'AUDIO_FORMAT_UNSUPPORTED'],
    ['an MP3', Buffer.from('ID3\u0004 and more bytes than twelve'), 'AUDIO_FORMAT_UNSUPPORTED'],
    ['a compressed WAV', wavOf(wave, { code: 85, bits: 16 }), 'AUDIO_FORMAT_UNSUPPORTED'],
    ['12 bits', wavOf(wave, { code: 1, bits: 16 }).fill(12, 34, 35), 'AUDIO_FORMAT_UNSUPPORTED'],
    ['six channels', wavOf(wave, { code: 1, bits: 16, channels: 6 }), 'AUDIO_FORMAT_UNSUPPORTED'],
    ['4 kHz', wavOf(wave, { code: 1, bits: 16, rate: 4_000 }), 'AUDIO_FORMAT_UNSUPPORTED'],
    ['sound without a format', Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), chunk('data', Buffer.alloc(8))]), 'INVALID_AUDIO'],
    ['a format without sound', wavOf([], { code: 1, bits: 16 }).subarray(0, 36), 'INVALID_AUDIO'],
  ])('%s is refused', (_, bytes, code) => {
    expect(() => readWav(bytes)).toThrow(expect.objectContaining({ code }));
  });
});

describe('writing', () => {
  it('a written file is read back', () => {
    const samples = Float32Array.from(wave);
    const back = readWav(writeWav(samples, 22_050));
    expect(back.sampleRate).toBe(22_050);
    for (const [i, value] of samples.entries()) expect(back.samples[i]).toBeCloseTo(value, 4);
  });

  it('BC-21: odd bytes are refused, an odd offset is not', () => {
    const bytes = toPcm16(Float32Array.from(wave));
    const shifted = new Uint8Array(bytes.length + 1);
    shifted.set(bytes, 1);
    expect(fromPcm16(shifted.subarray(1))).toEqual(fromPcm16(bytes));
    expect(() => fromPcm16(bytes.subarray(1))).toThrow(expect.objectContaining({ code: 'INVALID_AUDIO' }));
    expect([...fromPcm16(toPcm16(Float32Array.of(Number.NaN, 9, -9)))]).toEqual([0, 0x7fff / 0x8000, -1]);
  });
});
