import { describe, expect, it } from 'vitest';
import { fileTypeOf, loadModeFor } from '../../../src/engine/workers/loadMode.ts';
import { verifies } from '../../helpers/verifies.ts';

const u32 = (n: number) => {
  const out = Buffer.alloc(4);
  out.writeUInt32LE(n);
  return out;
};
const u64 = (n: number) => {
  const out = Buffer.alloc(8);
  out.writeBigUInt64LE(BigInt(n));
  return out;
};
const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
const header = (...pairs: Buffer[][]) => Buffer.concat([Buffer.from('GGUF'), u32(3), u64(0), u64(pairs.length), ...pairs.flat()]);

const Q4_0 = 2;
const Q4_1 = 3;
const Q8_0 = 7;

describe('RT-03: how weights are read', () => {
  it('never keeps two copies: none where they are repacked, mapped where nothing is', () => {
    verifies('RT-03');
    const host = (arch: string) => ({ arch, device: false });
    expect(loadModeFor(Q4_0, host('x64'))).toBe('none');
    expect(loadModeFor(Q4_1, host('x64'))).toBe('mmap');
    expect(loadModeFor(Q8_0, host('x64'))).toBe('mmap');
    expect(loadModeFor(Q8_0, host('arm64'))).toBe('none');
    expect(loadModeFor(Q4_0, { arch: 'arm64', device: true })).toBe('mmap');
    expect(loadModeFor(null, host('x64'))).toBe('none');
  });
});

describe('the file type in a header', () => {
  const type = [text('general.file_type'), u32(4), u32(Q4_1)];

  it('is found behind texts, numbers and lists', () => {
    const name = [text('general.name'), u32(8), text('x')];
    const flag = [text('a.flag'), u32(7), Buffer.from([1])];
    const list = [text('general.tags'), u32(9), u32(8), u64(2), text('a'), text('b')];
    const numbers = [text('a.numbers'), u32(9), u32(5), u64(3), Buffer.alloc(12)];
    expect(fileTypeOf(header(name, flag, list, numbers, type))).toBe(Q4_1);
  });

  it('is null in a cut, lying or foreign header, without an error', () => {
    const whole = header([text('general.name'), u32(8), text('x')], type);
    for (let end = 0; end < whole.length; end += 1) expect(fileTypeOf(whole.subarray(0, end))).toBeNull();
    expect(fileTypeOf(header([text('a'), u32(9), u32(4), u64(2 ** 50)], type))).toBeNull();
    expect(fileTypeOf(header([text('a'), u32(99)], type))).toBeNull();
    expect(fileTypeOf(header([u64(2 ** 52)], type))).toBeNull();
    expect(fileTypeOf(Buffer.from('PK\x03\x04 and so on'))).toBeNull();
  });
});
