import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AudioFrame, audio, type SoundChunk } from '../../../src/shared/domain/audio.ts';
import { isAppError } from '../../../src/shared/errors/appError.ts';
import { decodeChunk, decodeFrame, encodeChunk, encodeFrame, frameBytes, maxChunkBytes } from '../../../src/shared/util/audioWire.ts';

const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
// Any 32 bits, NaN and infinities included: what is in the sound is for the receiver to judge, not for the wire.
const float32 = (size: { minLength: number; maxLength: number }) =>
  fc.array(fc.float(), size).map((list): Float32Array<ArrayBuffer> => Float32Array.from(list));

const frames: fc.Arbitrary<AudioFrame> = fc.record({
  seq: u32,
  captureMs: fc.double({ min: 0, max: 1e12, noNaN: true }),
  clipped: fc.boolean(),
  zero: fc.boolean(),
  gap: fc.boolean(),
  samples: float32({ minLength: audio.frameSamples, maxLength: audio.frameSamples }),
});

const chunks: fc.Arbitrary<SoundChunk> = fc
  .record({
    generation: u32,
    phrase: u32,
    last: fc.boolean(),
    from: fc.integer({ min: 0, max: 100_000 }),
    length: fc.integer({ min: 0, max: 200 }),
    rateHz: fc.constantFrom(8_000, 16_000, 22_050, 24_000, 48_000, 192_000),
    pcm: float32({ minLength: 0, maxLength: 300 }),
  })
  .map(({ from, length, ...rest }) => ({ ...rest, range: { from, to: from + length } }));

/** The message as a socket may hand it over: somewhere inside a larger buffer, also at an odd byte. */
function inside(bytes: Uint8Array, lead: number): Uint8Array {
  const around = new Uint8Array(lead + bytes.length + 5).fill(0xaa);
  around.set(bytes, lead);
  return around.subarray(lead, lead + bytes.length);
}

const reasonOf = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    return isAppError(error, 'INVALID_AUDIO') ? error.data['reason'] : error;
  }
  return 'taken';
};

const frame = (): AudioFrame => ({
  seq: 7,
  captureMs: 32,
  clipped: true,
  zero: false,
  gap: true,
  samples: new Float32Array(512).fill(0.25),
});
const chunk = (): SoundChunk => ({
  generation: 1,
  phrase: 2,
  last: true,
  range: { from: 3, to: 9 },
  rateHz: 24_000,
  pcm: Float32Array.of(0.1, -0.1, 0.5),
});

describe('the binary messages of the audio socket', () => {
  it('BC-21: any frame and any chunk come back the same, also from an odd byte', () => {
    fc.assert(
      fc.property(frames, fc.integer({ min: 0, max: 9 }), (one, lead) => {
        expect(decodeFrame(inside(encodeFrame(one), lead))).toEqual(one);
      }),
      { numRuns: 100 },
    );
    fc.assert(
      fc.property(chunks, fc.integer({ min: 0, max: 9 }), (one, lead) => {
        expect(decodeChunk(inside(encodeChunk(one), lead))).toEqual(one);
      }),
    );
  });

  it('has the layout that is written down, and keeps nothing of what it was given', () => {
    const given = frame();
    const bytes = encodeFrame(given);
    given.samples.fill(9);
    expect([...bytes.subarray(0, 4)]).toEqual([1, 1, 5, 0]);
    expect([...bytes.subarray(4, 8)]).toEqual([7, 0, 0, 0]);
    expect(new DataView(bytes.buffer).getFloat64(8, true)).toBe(32);
    expect(new DataView(bytes.buffer).getFloat32(16, true)).toBe(0.25);
    expect(bytes.length).toBe(2_064);
    const sound = encodeChunk(chunk());
    expect([...sound.subarray(0, 4)]).toEqual([1, 2, 1, 0]);
    expect(sound.length).toBe(28 + 12);
    const decoded = decodeFrame(bytes);
    bytes.fill(0);
    expect(decoded.samples[511]).toBe(0.25);
  });

  it('refuses every other length, version, kind and flag', () => {
    const bytes = encodeFrame(frame());
    for (const length of [0, 1, 16, frameBytes - 4, frameBytes - 1])
      expect(reasonOf(() => decodeFrame(bytes.subarray(0, length)))).toBe('frame length');
    expect(reasonOf(() => decodeFrame(new Uint8Array(frameBytes + 1)))).toBe('frame length');
    const with_ = (from: Uint8Array, at: number, value: number) => {
      const copy = from.slice();
      copy[at] = value;
      return copy;
    };
    expect(reasonOf(() => decodeFrame(with_(bytes, 0, 2)))).toBe('version');
    expect(reasonOf(() => decodeFrame(with_(bytes, 1, 2)))).toBe('kind');
    expect(reasonOf(() => decodeFrame(with_(bytes, 2, 8)))).toBe('frame flags');
    expect(reasonOf(() => decodeFrame(with_(bytes, 15, 0xff)))).toBe('frame time');

    const sound = encodeChunk(chunk());
    for (let length = 0; length < sound.length; length += 1)
      expect(reasonOf(() => decodeChunk(sound.subarray(0, length)))).toBe('chunk length');
    expect(reasonOf(() => decodeChunk(with_(sound, 0, 0)))).toBe('version');
    expect(reasonOf(() => decodeChunk(with_(sound, 1, 1)))).toBe('kind');
    expect(reasonOf(() => decodeChunk(with_(sound, 3, 1)))).toBe('chunk flags');
    // A header that promises four gigabytes makes none.
    expect(reasonOf(() => decodeChunk(with_(sound, 27, 0xff)))).toBe('chunk length');
    expect(reasonOf(() => decodeChunk(with_(sound, 20, 0)))).toBe('chunk range');
    expect(reasonOf(() => decodeChunk(with_(with_(sound, 12, 1), 13, 0)))).toBe('chunk rate');
  });

  it('does not write what it would refuse to read', () => {
    expect(reasonOf(() => encodeFrame({ ...frame(), samples: new Float32Array(511) }))).toBe('frame length');
    expect(reasonOf(() => encodeFrame({ ...frame(), seq: -1 }))).toBe('frame number');
    expect(reasonOf(() => encodeFrame({ ...frame(), captureMs: Number.NaN }))).toBe('frame number');
    expect(reasonOf(() => encodeChunk({ ...chunk(), range: { from: 4, to: 3 } }))).toBe('chunk range');
    expect(reasonOf(() => encodeChunk({ ...chunk(), phrase: 0.5 }))).toBe('chunk number');
    expect(reasonOf(() => encodeChunk({ ...chunk(), rateHz: 4_000 }))).toBe('chunk rate');
    expect(reasonOf(() => encodeChunk({ ...chunk(), rateHz: 8_000, pcm: new Float32Array(480_001) }))).toBe('chunk length');
    expect(encodeChunk({ ...chunk(), rateHz: 8_000, pcm: new Float32Array(480_000) }).length).toBeLessThanOrEqual(maxChunkBytes);
  });

  it('any bytes at all are taken or refused by name, and nothing else is thrown', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        expect(typeof reasonOf(() => decodeFrame(bytes))).toBe('string');
        expect(typeof reasonOf(() => decodeChunk(bytes))).toBe('string');
      }),
    );
  });
});
