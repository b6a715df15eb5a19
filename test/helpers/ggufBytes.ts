/** Writes GGUF headers by hand, right or wrong on purpose. */
export type GgufWriter = {
  u8(value: number): GgufWriter;
  u32(value: number): GgufWriter;
  u64(value: bigint | number): GgufWriter;
  i32(value: number): GgufWriter;
  text(value: string): GgufWriter;
  raw(bytes: Uint8Array): GgufWriter;
  readonly length: number;
  bytes(): Buffer;
};

export function ggufWriter(): GgufWriter {
  const parts: Buffer[] = [];
  let length = 0;
  const add = (size: number, write: (buffer: Buffer) => void) => {
    const buffer = Buffer.alloc(size);
    write(buffer);
    parts.push(buffer);
    length += size;
    return self;
  };
  const self: GgufWriter = {
    u8: (value) => add(1, (b) => b.writeUInt8(value)),
    u32: (value) => add(4, (b) => b.writeUInt32LE(value >>> 0)),
    u64: (value) => add(8, (b) => b.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)))),
    i32: (value) => add(4, (b) => b.writeInt32LE(value)),
    text(value) {
      const bytes = Buffer.from(value);
      self.u64(bytes.length);
      return self.raw(bytes);
    },
    raw: (bytes) => add(bytes.length, (b) => b.set(bytes)),
    get length() {
      return length;
    },
    bytes: () => Buffer.concat(parts),
  };
  return self;
}

/** Value types of the format. */
export const ggufType = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9, u64: 10 } as const;

export type TinyGguf = { data?: number; alignment?: number; seed?: number; vocabulary?: number };

/**
 * A whole, valid GGUF file with one tensor of `data` bytes of noise (a multiple of 4).
 *
 * @returns the file; equal options give equal bytes.
 */
export function tinyGguf({ data = 4096, alignment = 32, seed = 1, vocabulary = 3 }: TinyGguf = {}): Buffer {
  const writer = ggufWriter().raw(Buffer.from('GGUF')).u32(3).u64(1).u64(8);
  writer.text('general.architecture').u32(ggufType.string).text('llama');
  writer.text('general.alignment').u32(ggufType.u32).u32(alignment);
  const counts = { block_count: 2, embedding_length: 64, context_length: 512, feed_forward_length: 128, 'attention.head_count': 4 };
  for (const [key, value] of Object.entries(counts)) writer.text(`llama.${key}`).u32(ggufType.u32).u32(value);
  writer.text('tokenizer.ggml.tokens').u32(ggufType.array).u32(ggufType.string).u64(vocabulary);
  for (let i = 0; i < vocabulary; i++) writer.text(`t${i}`);
  writer
    .text('blk.0.weight')
    .u32(1)
    .u64(data / 4)
    .u32(0)
    .u64(0);
  const pad = (alignment - (writer.length % alignment)) % alignment;
  return writer.raw(new Uint8Array(pad)).raw(noise(data, seed)).bytes();
}

/** Bytes that don't compress and repeat for equal seeds (xorshift32). */
export function noise(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed * 2_654_435_761 || 1;
  for (let i = 0; i < length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[i] = state & 0xff;
  }
  return bytes;
}
