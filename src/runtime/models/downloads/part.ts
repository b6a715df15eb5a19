import { createHash, type Hash } from 'node:crypto';
import { AppError } from '../../../shared/errors/appError.ts';
import { crashPoint } from '../../../shared/util/crashPoint.ts';
import type { Files, ReadableFile } from '../../platform/files.ts';
import { downloadLimits as limits } from '../limits.ts';

/** Running hash of the first `bytes` bytes of a part; kept while a job lives, so that an attempt need not read them again. */
export type PartMemo = { readonly hash: Hash; readonly bytes: number };

/** A part file that grows at its end, with the SHA-256 of all of it. One at a time per job (DL-01). */
export type Part = {
  readonly path: string;
  /** Bytes on disk and on their way there. */
  bytes(): number;
  /** Bytes that the file holds: what a killed process leaves behind. */
  written(): number;
  append(chunk: Uint8Array): Promise<void>;
  flush(): Promise<void>;
  /** Back to nothing. */
  restart(): Promise<void>;
  /** SHA-256 of the whole part, lower-case hex. Waits for what a restart left to be read. */
  digest(): Promise<string>;
  /** The first bytes of the file, at most `count`. */
  head(count: number): Promise<Uint8Array>;
  sync(): Promise<void>;
  /** Writes what is held back and closes. Returns what a later `openPart` needs to go on without reading. */
  close(): Promise<PartMemo | null>;
};

/**
 * Opens or makes a part. If `memo` does not fit the file's real size, the file is hashed again from the start, beside whatever the
 * caller does next (DL-07).
 *
 * @throws AppError DISK_FULL, STORE_IO.
 */
export async function openPart(files: Files, path: string, memo: PartMemo | null, signal: AbortSignal): Promise<Part> {
  const file = await files.openWritable(path);
  let written = await file.size().catch(async (error: unknown) => {
    await file.close();
    throw error;
  });
  let hash = memo?.bytes === written ? memo.hash : createHash('sha256');
  let hashed = memo?.bytes === written ? written : 0;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let catchingUp: Promise<void> = hashed === written ? Promise.resolve() : catchUp();
  // A failure is seen by whoever waits for the hash; until then it must not count as unhandled.
  catchingUp.catch(() => {});

  async function catchUp(): Promise<void> {
    const until = written;
    for await (const chunk of readFile(file, until, signal)) {
      hash.update(chunk);
      hashed += chunk.length;
      crashPoint('download.midHash');
    }
  }

  async function flush(): Promise<void> {
    if (heldBytes === 0) return;
    const block = held.length === 1 && held[0] !== undefined ? held[0] : Buffer.concat(held, heldBytes);
    held = [];
    heldBytes = 0;
    await catchingUp;
    const done = file.write(block, written);
    // While the write waits in the thread pool the hash takes the same bytes: neither costs the other time.
    hash.update(block);
    await done;
    written += block.length;
    hashed += block.length;
    crashPoint('download.midWrite');
  }

  return {
    path,
    bytes: () => written + heldBytes,
    written: () => written,
    async append(chunk) {
      for (let at = 0; at < chunk.length; ) {
        const piece = chunk.subarray(at, at + limits.writeBytes - heldBytes);
        held.push(piece);
        heldBytes += piece.length;
        at += piece.length;
        if (heldBytes >= limits.writeBytes) await flush();
      }
    },
    flush,
    async restart() {
      held = [];
      heldBytes = 0;
      await catchingUp.catch(() => {});
      await file.truncate(0);
      written = 0;
      hashed = 0;
      hash = createHash('sha256');
      catchingUp = Promise.resolve();
    },
    async digest() {
      await flush();
      await catchingUp;
      return hash.copy().digest('hex');
    },
    async head(count) {
      const bytes = new Uint8Array(count);
      return bytes.subarray(0, await file.read(bytes, 0));
    },
    sync: () => file.sync(),
    async close() {
      try {
        await flush();
        await catchingUp;
      } finally {
        await catchingUp.catch(() => {});
        await file.close();
      }
      return hashed === written ? { hash, bytes: written } : null;
    },
  };
}

/**
 * SHA-256 of a whole file, in steps that leave the thread to others in between.
 *
 * @throws AppError CANCELLED, STORE_IO.
 */
export async function hashFile(files: Files, path: string, signal: AbortSignal): Promise<{ sha256: string; bytes: number }> {
  const file = await files.openReadable(path);
  try {
    const hash = createHash('sha256');
    const bytes = await file.size();
    for await (const chunk of readFile(file, bytes, signal)) {
      hash.update(chunk);
      crashPoint('download.midHash');
    }
    return { sha256: hash.digest('hex'), bytes };
  } finally {
    await file.close();
  }
}

async function* readFile(file: ReadableFile, until: number, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  const buffer = new Uint8Array(limits.hashReadBytes);
  for (let at = 0; at < until; ) {
    if (signal.aborted) throw new AppError('CANCELLED');
    const count = await file.read(buffer.subarray(0, Math.min(buffer.length, until - at)), at);
    if (count === 0) throw new AppError('STORE_IO', {}, { message: 'file shrank while it was read' });
    yield buffer.subarray(0, count);
    at += count;
  }
}
