import { AppError } from '../errors/appError.ts';

/** Where the bytes come from. `read` gives exactly `length` bytes, or fewer at the end of the file. Sizes are bytes. */
export type ByteReader = { readonly size: number; read(offset: number, length: number): Promise<Uint8Array> };

export type GgufScalar = number | bigint | boolean | string;
/** Long arrays are counted, not kept: of a vocabulary only its length matters here. */
export type GgufValue = GgufScalar | { readonly length: number; readonly first: readonly GgufScalar[] };

export type GgufTensor = {
  readonly name: string;
  readonly dimensions: readonly number[];
  readonly type: string;
  /** From the start of the tensor data. */
  readonly offset: number;
  readonly bytes: number;
};

export type GgufHeader = {
  readonly version: number;
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: readonly GgufTensor[];
  readonly alignment: number;
  /** Where the tensor data begins. */
  readonly dataOffset: number;
  /** Sum of all tensors. */
  readonly weightBytes: number;
  readonly fileBytes: number;
};

const mb = 1024 * 1024;

/** models page 6.1. Bytes, elements, ms. */
export const ggufLimits = {
  keyValues: 65_536,
  tensors: 65_536,
  stringBytes: 16 * mb,
  arrayElements: 16_000_000,
  headerBytes: 256 * mb,
  nesting: 4,
  keyBytes: 65_535,
  tensorNameBytes: 64,
  readMs: 5_000,
  /** Elements of an array that are kept. */
  kept: 64,
} as const;

/** Type id → name, elements per block, bytes per block. Numbers that the library dropped are missing. @source ggml.h, ggml-common.h. */
export const ggufTensorTypes: Readonly<Record<number, readonly [name: string, elements: number, bytes: number]>> = {
  0: ['F32', 1, 4],
  1: ['F16', 1, 2],
  2: ['Q4_0', 32, 18],
  3: ['Q4_1', 32, 20],
  6: ['Q5_0', 32, 22],
  7: ['Q5_1', 32, 24],
  8: ['Q8_0', 32, 34],
  9: ['Q8_1', 32, 36],
  10: ['Q2_K', 256, 84],
  11: ['Q3_K', 256, 110],
  12: ['Q4_K', 256, 144],
  13: ['Q5_K', 256, 176],
  14: ['Q6_K', 256, 210],
  15: ['Q8_K', 256, 292],
  16: ['IQ2_XXS', 256, 66],
  17: ['IQ2_XS', 256, 74],
  18: ['IQ3_XXS', 256, 98],
  19: ['IQ1_S', 256, 50],
  20: ['IQ4_NL', 32, 18],
  21: ['IQ3_S', 256, 110],
  22: ['IQ2_S', 256, 82],
  23: ['IQ4_XS', 256, 136],
  24: ['I8', 1, 1],
  25: ['I16', 1, 2],
  26: ['I32', 1, 4],
  27: ['I64', 1, 8],
  28: ['F64', 1, 8],
  29: ['IQ1_M', 256, 56],
  30: ['BF16', 1, 2],
  34: ['TQ1_0', 256, 54],
  35: ['TQ2_0', 256, 66],
  39: ['MXFP4', 32, 17],
};

/**
 * Reads the header of a GGUF file and checks every number in it before it is believed. The native loader may see only a file that
 * passed here (IMP-03); weights are never read.
 *
 * @param nowMs  a monotonic clock, for the limit on time.
 * @throws AppError MODEL_FILE_CORRUPT with `reason`, and `field` and `offset` of the fault; MODEL_ARCH_UNSUPPORTED for an unknown
 *   tensor type.
 * @source GGUF specification, ggml-org/ggml docs/gguf.md.
 */
export async function readGgufHeader(reader: ByteReader, nowMs: () => number): Promise<GgufHeader> {
  const cursor = createCursor(reader, nowMs);
  const magic = await cursor.bytes(4, 'magic');
  if (magic[0] !== 0x47 || magic[1] !== 0x47 || magic[2] !== 0x55 || magic[3] !== 0x46) throw corrupt('not a GGUF file', 'magic', 0);
  const version = await cursor.u32('version');
  if (version !== 2 && version !== 3) throw corrupt(`version ${version}`, 'version', 4);
  const tensorCount = await cursor.count(ggufLimits.tensors, 'tensor count');
  const keyCount = await cursor.count(ggufLimits.keyValues, 'key count');
  const metadata = await readMetadata(cursor, keyCount);
  const alignment = alignmentOf(metadata);
  const table = await readTensorTable(cursor, tensorCount);
  const dataOffset = roundUp(cursor.offset(), alignment);
  const tensors = table.map((tensor) => checkedTensor(tensor, { alignment, dataOffset, fileBytes: reader.size }));
  if (tensors.length === 0) throw corrupt('no tensors', 'tensor count', 8);
  checkOverlap(tensors);
  const weightBytes = tensors.reduce((sum, tensor) => sum + tensor.bytes, 0);
  return { version, metadata, tensors, alignment, dataOffset, weightBytes, fileBytes: reader.size };
}

function corrupt(reason: string, field: string, offset: number): AppError {
  return new AppError('MODEL_FILE_CORRUPT', { reason: `${field}: ${reason}`, field, offset });
}

async function readMetadata(cursor: Cursor, count: number): Promise<ReadonlyMap<string, GgufValue>> {
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < count; i++) {
    const at = cursor.offset();
    const key = await cursor.text(ggufLimits.keyBytes, 'key');
    if (key === '') throw corrupt('empty', 'key', at);
    if (metadata.has(key)) throw corrupt('stands there twice', shown(key), at);
    const type = await cursor.u32(shown(key));
    metadata.set(key, await readValue(cursor, type, shown(key), 0));
  }
  return metadata;
}

/** Fixed sizes of the value types, by id: u8 i8 u16 i16 u32 i32 f32 bool, string, array, u64 i64 f64. */
const scalarBytes: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
const stringType = 8;
const arrayType = 9;

async function readValue(cursor: Cursor, type: number, field: string, depth: number): Promise<GgufValue> {
  if (type === arrayType) return readArray(cursor, field, depth);
  return readScalar(cursor, type, field);
}

async function readScalar(cursor: Cursor, type: number, field: string): Promise<GgufScalar> {
  if (type === stringType) return cursor.text(ggufLimits.stringBytes, field);
  const size = scalarBytes[type];
  if (size === undefined) throw corrupt(`value type ${type}`, field, cursor.offset() - 4);
  const at = cursor.offset();
  const raw = await cursor.bytes(size, field);
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  switch (type) {
    case 0:
      return view.getUint8(0);
    case 1:
      return view.getInt8(0);
    case 2:
      return view.getUint16(0, true);
    case 3:
      return view.getInt16(0, true);
    case 4:
      return view.getUint32(0, true);
    case 5:
      return view.getInt32(0, true);
    case 6:
      return view.getFloat32(0, true);
    case 7: {
      const value = view.getUint8(0);
      if (value > 1) throw corrupt('a truth value that is neither', field, at);
      return value === 1;
    }
    case 10:
      return view.getBigUint64(0, true);
    case 11:
      return view.getBigInt64(0, true);
    default:
      return view.getFloat64(0, true);
  }
}

async function readArray(cursor: Cursor, field: string, depth: number): Promise<GgufValue> {
  if (depth >= ggufLimits.nesting) throw corrupt('nested too deep', field, cursor.offset());
  const type = await cursor.u32(field);
  const length = await cursor.count(ggufLimits.arrayElements, field);
  const first: GgufScalar[] = [];
  const size = scalarBytes[type];
  if (size !== undefined) {
    const kept = Math.min(length, ggufLimits.kept);
    for (let i = 0; i < kept; i++) first.push(await readScalar(cursor, type, field));
    await cursor.skip((length - kept) * size, field);
    return { length, first };
  }
  if (type !== stringType && type !== arrayType) throw corrupt(`array type ${type}`, field, cursor.offset() - 12);
  for (let i = 0; i < length; i++) {
    if (type === arrayType) await readArray(cursor, field, depth + 1);
    else if (first.length < ggufLimits.kept) first.push(await cursor.text(ggufLimits.stringBytes, field));
    else await cursor.skip(await cursor.count(ggufLimits.stringBytes, field), field);
  }
  return { length, first };
}

function alignmentOf(metadata: ReadonlyMap<string, GgufValue>): number {
  const value = metadata.get('general.alignment') ?? 32;
  const right = typeof value === 'number' && Number.isInteger(value) && value >= 8 && value <= 65_536 && (value & (value - 1)) === 0;
  if (!right) throw corrupt(`${typeof value === 'number' ? value : 'no number'} is no alignment`, 'general.alignment', 0);
  return value;
}

type RawTensor = { name: string; dimensions: number[]; type: number; offset: bigint; at: number };

async function readTensorTable(cursor: Cursor, count: number): Promise<RawTensor[]> {
  const tensors: RawTensor[] = [];
  const names = new Set<string>();
  for (let i = 0; i < count; i++) {
    const at = cursor.offset();
    const name = await cursor.text(ggufLimits.tensorNameBytes, 'tensor name');
    if (names.has(name)) throw corrupt('stands there twice', shown(name), at);
    names.add(name);
    const dimensionCount = await cursor.u32(shown(name));
    if (dimensionCount < 1 || dimensionCount > 4) throw corrupt(`${dimensionCount} dimensions`, shown(name), at);
    const dimensions: number[] = [];
    for (let d = 0; d < dimensionCount; d++) dimensions.push(await cursor.count(Number.MAX_SAFE_INTEGER, shown(name)));
    const type = await cursor.u32(shown(name));
    const offset = await cursor.u64(shown(name));
    tensors.push({ name, dimensions, type, offset, at });
  }
  return tensors;
}

function checkedTensor(raw: RawTensor, file: { alignment: number; dataOffset: number; fileBytes: number }): GgufTensor {
  const field = shown(raw.name);
  const type = ggufTensorTypes[raw.type];
  if (type === undefined) {
    // A negative id can only be damage; a higher one may be a type of a newer library.
    if (raw.type > 1024) throw corrupt(`tensor type ${raw.type | 0}`, field, raw.at);
    throw new AppError('MODEL_ARCH_UNSUPPORTED', { architecture: `tensor type ${raw.type}`, field, offset: raw.at });
  }
  const [name, perBlock, blockBytes] = type;
  const elements = raw.dimensions.reduce((product, size) => product * BigInt(size), 1n);
  if (elements <= 0n || elements >= 2n ** 53n) throw corrupt('dimensions that no file can hold', field, raw.at);
  if ((raw.dimensions[0] ?? 0) % perBlock !== 0) throw corrupt(`row of ${raw.dimensions[0]} in blocks of ${perBlock}`, field, raw.at);
  const bytes = (elements / BigInt(perBlock)) * BigInt(blockBytes);
  if (raw.offset % BigInt(file.alignment) !== 0n) throw corrupt('offset is not aligned', field, raw.at);
  if (BigInt(file.dataOffset) + raw.offset + bytes > BigInt(file.fileBytes)) throw corrupt('lies past the end of the file', field, raw.at);
  return { name: raw.name, dimensions: raw.dimensions, type: name, offset: Number(raw.offset), bytes: Number(bytes) };
}

function checkOverlap(tensors: readonly GgufTensor[]): void {
  const sorted = [...tensors].sort((a, b) => a.offset - b.offset);
  for (const [i, tensor] of sorted.entries()) {
    const next = sorted[i + 1];
    if (next !== undefined && tensor.offset + tensor.bytes > next.offset) throw corrupt('overlaps another tensor', shown(tensor.name), 0);
  }
}

type Cursor = {
  offset(): number;
  bytes(length: number, field: string): Promise<Uint8Array>;
  skip(length: number, field: string): Promise<void>;
  u32(field: string): Promise<number>;
  u64(field: string): Promise<bigint>;
  /** A 64-bit number that must not exceed `most`. */
  count(most: number, field: string): Promise<number>;
  text(most: number, field: string): Promise<string>;
};

// Small enough that parsing one holds the thread for few ms only.
const windowBytes = 64 * 1024;

/** Walks the file through one window, so that memory stays small whatever the header claims. */
function createCursor(reader: ByteReader, nowMs: () => number): Cursor {
  const decoder = new TextDecoder('utf-8');
  const deadline = nowMs() + ggufLimits.readMs;
  let at = 0;
  let window: Uint8Array = new Uint8Array(0);
  let windowAt = 0;

  const need = (length: number, field: string) => {
    if (at + length > reader.size) throw corrupt('cut off', field, at);
    if (at + length > ggufLimits.headerBytes) throw corrupt('header over 256 MB', field, at);
  };
  const load = async (length: number, field: string) => {
    if (nowMs() > deadline) throw corrupt('took over 5 s to read', field, at);
    windowAt = at;
    window = await reader.read(at, Math.min(Math.max(length, windowBytes), reader.size - at));
    if (window.length < length) throw corrupt('cut off', field, at);
  };
  const bytes = async (length: number, field: string): Promise<Uint8Array> => {
    need(length, field);
    if (at < windowAt || at + length > windowAt + window.length) await load(length, field);
    const found = window.subarray(at - windowAt, at - windowAt + length);
    at += length;
    return found;
  };
  const u64 = async (field: string) => {
    const raw = await bytes(8, field);
    return new DataView(raw.buffer, raw.byteOffset, 8).getBigUint64(0, true);
  };
  const count = async (most: number, field: string) => {
    const start = at;
    const value = await u64(field);
    if (value > BigInt(most)) throw corrupt(`${value} is over the limit`, field, start);
    return Number(value);
  };
  return {
    offset: () => at,
    bytes,
    u64,
    count,
    async skip(length, field) {
      need(length, field);
      at += length;
    },
    async u32(field) {
      const raw = await bytes(4, field);
      return new DataView(raw.buffer, raw.byteOffset, 4).getUint32(0, true);
    },
    async text(most, field) {
      const length = await count(most, field);
      return decoder.decode(await bytes(length, field));
    },
  };
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}

/** A name out of the file, fit for an error: printable, short. */
function shown(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 80);
}
