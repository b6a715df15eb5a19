import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { memoryNeed, modelShape } from '../../../src/shared/domain/fit.ts';
import { type ByteReader, ggufLimits, readGgufHeader } from '../../../src/shared/domain/gguf.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { ggufType, ggufWriter, noise, tinyGguf } from '../../helpers/ggufBytes.ts';
import { verifies } from '../../helpers/verifies.ts';

// Loopback and real files on a machine that may be busy: a wait is bounded by its state, not by the default of 5 s.
vi.setConfig({ testTimeout: 30_000 });

/** A reader over bytes that counts what was asked of it; `size` may lie about a much larger file. */
function readerOf(bytes: Uint8Array, size = bytes.length): ByteReader & { asked: number; largest: number } {
  const reader = {
    size,
    asked: 0,
    largest: 0,
    async read(offset: number, length: number) {
      reader.asked += length;
      reader.largest = Math.max(reader.largest, length);
      const found = bytes.subarray(offset, offset + length);
      if (found.length === length || offset + length > size) return found;
      const filled = new Uint8Array(length);
      filled.set(found);
      return filled;
    },
  };
  return reader;
}

const clock = () => 0;
const read = (bytes: Uint8Array, size?: number) => readGgufHeader(readerOf(bytes, size), clock);

async function failure(bytes: Uint8Array, size?: number): Promise<AppError> {
  try {
    await read(bytes, size);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

/** A header with one key and one tensor, each open to lies. */
function forged(lie: {
  version?: number;
  tensorCount?: bigint;
  keyCount?: bigint;
  key?: (writer: ReturnType<typeof ggufWriter>) => void;
  dimensions?: readonly (bigint | number)[];
  dimensionCount?: number;
  type?: number;
  offset?: bigint;
  data?: number;
  tensors?: readonly string[];
}): Buffer {
  const names = lie.tensors ?? ['w'];
  const writer = ggufWriter()
    .raw(Buffer.from('GGUF'))
    .u32(lie.version ?? 3)
    .u64(lie.tensorCount ?? names.length)
    .u64(lie.keyCount ?? 1);
  if (lie.key === undefined) writer.text('general.architecture').u32(ggufType.string).text('llama');
  else lie.key(writer);
  for (const name of names) {
    writer.text(name).u32(lie.dimensionCount ?? lie.dimensions?.length ?? 1);
    for (const size of lie.dimensions ?? [64]) writer.u64(size);
    writer.u32(lie.type ?? 0).u64(lie.offset ?? 0n);
  }
  return writer
    .raw(new Uint8Array((32 - (writer.length % 32)) % 32))
    .raw(noise(lie.data ?? 256, 1))
    .bytes();
}

describe('a right header', () => {
  it('gives keys, tensors and sizes', async () => {
    const file = tinyGguf({ data: 4096, vocabulary: 200 });
    const header = await read(file);
    expect(header.metadata.get('general.architecture')).toBe('llama');
    expect(header.metadata.get('tokenizer.ggml.tokens')).toMatchObject({ length: 200 });
    expect(header.tensors).toEqual([{ name: 'blk.0.weight', dimensions: [1024], type: 'F32', offset: 0, bytes: 4096 }]);
    expect(header.weightBytes).toBe(4096);
    expect(header.dataOffset + 4096).toBe(file.length);
  });

  it.each([8, 64, 4096, 65_536])('alignment %i', async (alignment) => {
    expect((await read(tinyGguf({ alignment }))).alignment).toBe(alignment);
  });
});

describe('RB-25: cut files', () => {
  const file = tinyGguf({ data: 4096 });
  it.each([0, 3, 4, 23, 24, 40, 150, 400, file.length - 4097, file.length - 4096, file.length - 1])('cut at %i', async (at) => {
    verifies('RB-25');
    const error = await failure(file.subarray(0, at));
    expect(error.code).toBe('MODEL_FILE_CORRUPT');
    expect(error.data['reason']).toEqual(expect.stringMatching(/./));
    expect(typeof error.data['offset']).toBe('number');
  });

  it('every single cut is refused, one byte before the end too', async () => {
    const small = tinyGguf({ data: 64 });
    for (let at = 0; at < small.length; at++) expect((await failure(small.subarray(0, at))).code).toBe('MODEL_FILE_CORRUPT');
  });
});

describe('RB-26: headers that lie', () => {
  const string = (writer: ReturnType<typeof ggufWriter>, length: bigint) => writer.text('k').u32(ggufType.string).u64(length);
  const array = (writer: ReturnType<typeof ggufWriter>, type: number, length: bigint) =>
    writer.text('k').u32(ggufType.array).u32(type).u64(length);
  const alignment = (value: number) => (writer: ReturnType<typeof ggufWriter>) =>
    void writer.text('general.alignment').u32(ggufType.u32).u32(value);

  it.each<[string, Buffer]>([
    ['not GGUF', Buffer.from('PK\u0003\u0004 this is a zip file, not a model at all')],
    ['big endian version', forged({ version: 0x0300_0000 })],
    ['version 1', forged({ version: 1 })],
    ['version 4', forged({ version: 4 })],
    ['no tensors', forged({ tensors: [] })],
    ['2^63 tensors', forged({ tensorCount: 2n ** 63n })],
    ['2^64-1 keys', forged({ keyCount: 2n ** 64n - 1n })],
    ['65 537 keys', forged({ keyCount: 65_537n })],
    ['a string of 2^64-1', forged({ key: (w) => void string(w, 2n ** 64n - 1n) })],
    ['a string of 17 MB', forged({ key: (w) => void string(w, 17n * 1024n * 1024n) })],
    ['an array of 2^40', forged({ key: (w) => void array(w, ggufType.u32, 2n ** 40n) })],
    ['an array of strings of 2^40', forged({ key: (w) => void array(w, ggufType.string, 2n ** 40n) })],
    ['an array of an unknown type', forged({ key: (w) => void array(w, 77, 1n) })],
    ['an unknown value type', forged({ key: (w) => void w.text('k').u32(13) })],
    ['a negative value type', forged({ key: (w) => void w.text('k').i32(-1) })],
    ['a truth value of 2', forged({ key: (w) => void w.text('k').u32(ggufType.bool).u8(2) })],
    ['an empty key', forged({ key: (w) => void w.text('').u32(ggufType.u32).u32(1) })],
    ['alignment 0', forged({ key: alignment(0) })],
    ['alignment 3', forged({ key: alignment(3) })],
    ['alignment 4', forged({ key: alignment(4) })],
    ['alignment 131 072', forged({ key: alignment(131_072) })],
    ['alignment as text', forged({ key: (w) => void w.text('general.alignment').u32(ggufType.string).text('32') })],
    ['offset past the end', forged({ offset: 2n ** 40n })],
    ['offset near 2^64', forged({ offset: 2n ** 64n - 32n })],
    ['offset not aligned', forged({ offset: 8n, data: 512 })],
    ['size past the end', forged({ dimensions: [1_000_000] })],
    ['dimensions that overflow 64 bits', forged({ dimensions: [2n ** 32n, 2n ** 32n, 2n] })],
    ['dimensions of 2^53', forged({ dimensions: [2n ** 27n, 2n ** 26n] })],
    ['a dimension of 0', forged({ dimensions: [0] })],
    ['a dimension of 2^64-1', forged({ dimensions: [2n ** 64n - 1n] })],
    ['no dimensions', forged({ dimensionCount: 0, dimensions: [] })],
    ['5 dimensions', forged({ dimensions: [1, 1, 1, 1, 1] })],
    ['2^31 dimensions', forged({ dimensionCount: 2 ** 31, dimensions: [1] })],
    ['a negative tensor type', forged({ type: -1 })],
    ['a row that is no whole block', forged({ type: 2, dimensions: [33] })],
    ['a tensor twice', forged({ tensors: ['w', 'w'] })],
    ['tensors over one another', forged({ tensors: ['v', 'w'] })],
    ['a tensor name of 100 bytes', forged({ tensors: ['w'.repeat(100)] })],
    [
      'a key twice',
      forged({
        keyCount: 2n,
        key: (w) => void w.text('k').u32(ggufType.u32).u32(1).text('k').u32(ggufType.u32).u32(2),
      }),
    ],
  ])('%s', async (_what, bytes) => {
    verifies('RB-26');
    const error = await failure(bytes);
    expect(error.code).toBe('MODEL_FILE_CORRUPT');
    expect(String(error.data['reason']).length).toBeGreaterThan(5);
  });

  it('arrays in arrays in arrays … are refused at five', async () => {
    const nested = forged({
      key(writer) {
        writer.text('k').u32(ggufType.array);
        for (let i = 0; i < 10; i++) writer.u32(ggufType.array).u64(1);
        writer.u32(ggufType.u32).u64(0);
      },
    });
    expect((await failure(nested)).data['reason']).toMatch(/nested/);
  });

  it('a tensor type of a newer library is unsupported, not corrupt (IMP-05)', async () => {
    expect(await failure(forged({ type: 500 }))).toMatchObject({
      code: 'MODEL_ARCH_UNSUPPORTED',
      data: { architecture: 'tensor type 500' },
    });
  });

  it('a name out of the file reaches no error unescaped', async () => {
    const error = await failure(forged({ tensors: ['\u001b[31m\u202e'], offset: 2n ** 40n }));
    expect(String(error.data['reason'])).toMatch(/^[\x20-\x7e]+$/);
  });

  it('a claim of gigabytes costs no memory: reads stay small and the header ends at 256 MB', async () => {
    const keys = 65_536;
    const writer = ggufWriter().raw(Buffer.from('GGUF')).u32(3).u64(1).u64(keys);
    for (let i = 0; i < 20; i++) writer.text(`k${i}`).u32(ggufType.array).u32(ggufType.u64).u64(2_000_000);
    const reader = readerOf(writer.bytes(), 8 * 1024 ** 3);
    await expect(readGgufHeader(reader, clock)).rejects.toMatchObject({ code: 'MODEL_FILE_CORRUPT' });
    expect(reader.largest).toBeLessThanOrEqual(256 * 1024);
  });

  it('a header that takes over 5 s is given up', async () => {
    let now = 0;
    const slow = readerOf(tinyGguf({ vocabulary: 100_000 }));
    const ticking = { ...slow, read: (offset: number, length: number) => ((now += 3000), slow.read(offset, length)) };
    await expect(readGgufHeader(ticking, () => now)).rejects.toSatisfy((error: AppError) => /5 s/.test(String(error.data['reason'])));
    expect(ggufLimits.readMs).toBe(5000);
  });
});

describe('500 damaged headers', () => {
  it('alive after each, and each failure is typed', async () => {
    verifies('RB-25', 'RB-26');
    const right = tinyGguf({ data: 512, vocabulary: 20 });
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ at: fc.integer({ min: 0, max: right.length - 513 }), byte: fc.integer({ min: 0, max: 255 }) }), {
          minLength: 1,
          maxLength: 8,
        }),
        fc.option(fc.integer({ min: 0, max: right.length })),
        async (changes, cut) => {
          const damaged = Buffer.from(right.subarray(0, cut ?? right.length));
          for (const { at, byte } of changes) if (at < damaged.length) damaged[at] = byte;
          try {
            const shape = modelShape(await read(damaged));
            expect(Number.isFinite(memoryNeed(shape, { contextSize: 4096, microBatch: 512, flashAttention: false }).total)).toBe(true);
          } catch (error) {
            if (!(error instanceof AppError)) throw error;
            expect(['MODEL_FILE_CORRUPT', 'MODEL_ARCH_UNSUPPORTED']).toContain(error.code);
            refused += 1;
          }
        },
      ),
      { numRuns: 500 },
    );
    expect(refused).toBeGreaterThan(250);
  });
});
