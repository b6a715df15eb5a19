import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { AppError } from '../../../shared/errors/appError.ts';
import { createMemberCheck, type Extract, type Member, unsafe } from './archive.ts';

const block = 512;
/** Extended headers (pax, GNU long names) hold names only; more is no archive of ours. */
const maxHeaderBytes = 1024 * 1024;

/**
 * Members of a gzipped tar file, as npm publishes packages. The file is read once to check all that is in it, and then as often as the wanted
 * members stand in it in another order than they are wanted.
 *
 * @param members  paths inside the archive, npm's leading `package/` included.
 * @throws AppError ARCHIVE_UNSAFE_MEMBER, ARCHIVE_TOO_LARGE, SOURCE_FILE_MISSING, PACKAGE_FETCH_FAILED, CANCELLED.
 */
export const extractFromTgz: Extract = async (path, members, { signal, sink }) => {
  const { size } = await stat(path);
  const check = createMemberCheck(size);
  const missing = new Set(members);
  await walk(path, signal, (entry) => {
    check.add(entry);
    if (entry.kind === 'file') missing.delete(entry.name);
    return null;
  });
  if (missing.size > 0) throw new AppError('SOURCE_FILE_MISSING', {}, { message: 'member is not in the package' });
  const left = [...members];
  while (left.length > 0) {
    await walk(path, signal, (entry) => {
      if (left.length === 0) return 'enough';
      if (entry.kind !== 'file' || entry.name !== left[0]) return null;
      left.shift();
      return sink;
    });
  }
};

/** What is to be done with a member's bytes; `enough` = nothing more of the archive is wanted. */
type Visit = (member: Member) => ((chunk: Uint8Array) => Promise<void>) | 'enough' | null;

async function walk(path: string, signal: AbortSignal, visit: Visit): Promise<void> {
  const file = createReadStream(path);
  const plain = createGunzip();
  file.once('error', (error) => plain.destroy(error));
  try {
    await readMembers(createReader(file.pipe(plain) as AsyncIterable<Uint8Array>), signal, visit);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw damaged(error);
  } finally {
    file.destroy();
    plain.destroy();
  }
}

async function readMembers(reader: Reader, signal: AbortSignal, visit: Visit): Promise<void> {
  let longName: string | null = null;
  let longSize: number | null = null;
  for (;;) {
    if (signal.aborted) throw new AppError('CANCELLED');
    const header = await reader.take(block);
    if (header === null || header.every((byte) => byte === 0)) return;
    if (!checksumFits(header)) throw damaged();
    const type = String.fromCharCode(header[156] ?? 0);
    const bytes: number = longSize ?? numberAt(header, 124, 12);
    if (type === 'x' || type === 'L') {
      const text = await readText(reader, bytes);
      if (type === 'L') longName = text.replace(/\0.*$/s, '');
      else ({ name: longName, size: longSize } = paxOf(text, longName, longSize));
      continue;
    }
    if (type === 'g') {
      await readText(reader, bytes);
      continue;
    }
    const name: string = longName ?? shortName(header);
    longName = null;
    longSize = null;
    const sink = visit({ name, kind: kindOf(type), bytes });
    if (sink === 'enough') return;
    await reader.pass(bytes, sink);
    await reader.pass((block - (bytes % block)) % block, null);
  }
}

async function readText(reader: Reader, bytes: number): Promise<string> {
  if (bytes > maxHeaderBytes) throw unsafe('header');
  const held: Uint8Array[] = [];
  await reader.pass(bytes, async (chunk) => void held.push(Uint8Array.from(chunk)));
  await reader.pass((block - (bytes % block)) % block, null);
  return Buffer.concat(held).toString('utf8');
}

/** Pax records: `length key=value\n`, the length counting the whole record in bytes. */
function paxOf(text: string, name: string | null, size: number | null): { name: string | null; size: number | null } {
  const bytes = Buffer.from(text);
  let found = { name, size };
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(bytes.subarray(at, space).toString('latin1'));
    if (space < 0 || !Number.isInteger(length) || length <= space - at) throw damaged();
    const record = bytes.subarray(space + 1, at + length - 1).toString('utf8');
    if (record.startsWith('path=')) found = { ...found, name: record.slice(5) };
    if (record.startsWith('size=')) found = { ...found, size: Number(record.slice(5)) };
    if (record.startsWith('linkpath=')) throw unsafe('link');
    at += length;
  }
  if (found.size !== null && (!Number.isSafeInteger(found.size) || found.size < 0)) throw damaged();
  return found;
}

type Reader = {
  /** Exactly `count` bytes, or `null` at the end of the stream. */
  take(count: number): Promise<Uint8Array | null>;
  /** Hands `count` bytes on, or drops them. */
  pass(count: number, sink: ((chunk: Uint8Array) => Promise<void>) | null): Promise<void>;
};

function createReader(source: AsyncIterable<Uint8Array>): Reader {
  const chunks = source[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array(0);
  const more = async (): Promise<boolean> => {
    const next = await chunks.next();
    if (next.done === true) return false;
    rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value]);
    return true;
  };
  return {
    async take(count) {
      while (rest.length < count) {
        if (await more()) continue;
        if (rest.length === 0) return null;
        throw damaged();
      }
      const taken = rest.subarray(0, count);
      rest = rest.subarray(count);
      return taken;
    },
    async pass(count, sink) {
      for (let left = count; left > 0; ) {
        if (rest.length === 0 && !(await more())) throw damaged();
        const piece = rest.subarray(0, left);
        rest = rest.subarray(piece.length);
        left -= piece.length;
        if (sink !== null) await sink(piece);
      }
    },
  };
}

function kindOf(type: string): Member['kind'] {
  if (type === '0' || type === '\0' || type === '7') return 'file';
  if (type === '5') return 'folder';
  return type === '1' || type === '2' || type === 'K' ? 'link' : 'other';
}

function shortName(header: Uint8Array): string {
  const name = textAt(header, 0, 100);
  const isUstar = textAt(header, 257, 5) === 'ustar';
  const prefix = isUstar ? textAt(header, 345, 155) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textAt(header: Uint8Array, at: number, length: number): string {
  return Buffer.from(header.subarray(at, at + length))
    .toString('utf8')
    .replace(/\0.*$/s, '');
}

/** Octal text, or GNU's base-256 for large files. */
function numberAt(header: Uint8Array, at: number, length: number): number {
  const first = header[at] ?? 0;
  const field = header.subarray(at, at + length);
  const value =
    (first & 0x80) !== 0
      ? field.reduce((sum, byte, index) => sum * 256 + (index === 0 ? byte & 0x7f : byte), 0)
      : Number.parseInt(textAt(header, at, length).trim() || '0', 8);
  if (!Number.isSafeInteger(value) || value < 0) throw damaged();
  return value;
}

function checksumFits(header: Uint8Array): boolean {
  const stated = numberAt(header, 148, 8);
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 0x20 : byte), 0);
  return sum === stated;
}

function damaged(cause?: unknown): AppError {
  return new AppError('PACKAGE_FETCH_FAILED', { client: 'npm', exitCode: null, lastLine: 'the package is damaged' }, { cause });
}
