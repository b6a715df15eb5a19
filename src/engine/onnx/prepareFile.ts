import { createHash } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { AppError } from '../../shared/errors/appError.ts';
import type { PrepareParams, PrepareResult } from '../contract/prepare.ts';
import { floatModel, lengthOf, type Piece } from './rewrite.ts';
import { notOnnx, type Range, type Source } from './wire.ts';

const BLOCK = 1024 * 1024;

/**
 * Writes the file anew with its part `model` rewritten, and lets it reach the disk. Holds the thread: for a worker only. It keeps the graph in
 * memory and one block of the weights, never all of them.
 *
 * @param onProgress  0…1 of what is written, at most once per block.
 * @throws AppError MODEL_FILE_CORRUPT, DISK_FULL, STORE_IO, CANCELLED; what is written so far then stays for the next try to overwrite.
 */
export function prepareFile(
  params: PrepareParams,
  control: { isCancelled(): boolean; onProgress(fraction: number): void },
): Omit<PrepareResult, 'ms'> {
  const from = openRead(params.from);
  try {
    const source = sourceOfFile(from);
    const parts: { role: string; bytes: number }[] = [];
    const pieces: Piece[] = [];
    let at = 0;
    for (const { role, bytes } of params.parts) {
      const range = { start: at, end: at + bytes };
      at += bytes;
      if (range.end > source.size) throw notOnnx('shorter than it should be');
      const own = role === 'model' ? floatModel(source, range).pieces : [range];
      pieces.push(...own);
      parts.push({ role, bytes: own.reduce((sum, piece) => sum + lengthOf(piece), 0) });
    }
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    return { bytes, sha256: writePieces(params.to, pieces, { ...control, source, bytes }), parts };
  } finally {
    closeSync(from);
  }
}

function writePieces(
  path: string,
  pieces: readonly Piece[],
  { source, bytes, isCancelled, onProgress }: { source: Source; bytes: number; isCancelled(): boolean; onProgress(fraction: number): void },
): string {
  const hash = createHash('sha256');
  const block = new Uint8Array(BLOCK);
  let held = 0;
  let written = 0;
  const to = io(() => openSync(path, 'w'));
  const flush = () => {
    if (isCancelled()) throw new AppError('CANCELLED');
    const full = block.subarray(0, held);
    hash.update(full);
    for (let done = 0; done < held; ) done += io(() => writeSync(to, full, done));
    written += held;
    held = 0;
    onProgress(written / bytes);
  };
  try {
    for (const piece of pieces) {
      const length = lengthOf(piece);
      for (let done = 0; done < length; ) {
        const count = Math.min(BLOCK - held, length - done);
        const into = block.subarray(held, held + count);
        if (piece instanceof Uint8Array) into.set(piece.subarray(done, done + count));
        else source.read(into, (piece satisfies Range).start + done);
        held += count;
        done += count;
        if (held === BLOCK) flush();
      }
    }
    flush();
    io(() => fsyncSync(to));
  } finally {
    closeSync(to);
  }
  return hash.digest('hex');
}

function openRead(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw new AppError('MODEL_FILE_CORRUPT', { reason: 'missing or unreadable' }, { cause: error });
  }
}

function sourceOfFile(file: number): Source {
  return {
    size: fstatSync(file).size,
    read(into, at) {
      for (let done = 0; done < into.length; ) {
        const count = readSync(file, into, done, into.length - done, at + done);
        if (count === 0) throw notOnnx('shorter than it should be');
        done += count;
      }
    },
  };
}

function io<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ENOSPC' || code === 'EDQUOT') throw new AppError('DISK_FULL', { neededBytes: 0, freeBytes: 0 }, { cause: error });
    throw new AppError('STORE_IO', {}, { cause: error });
  }
}
