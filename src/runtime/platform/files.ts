import { constants as fsConstants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm, statfs } from 'node:fs/promises';
import { AppError } from '../../shared/errors/appError.ts';

/** What the downloader needs of a file system; a test gives a smaller disk or a failing write. Sizes are bytes. */
export type Files = {
  /** Makes the folder and its parents, readable by the owner only. */
  makeFolder(path: string): Promise<void>;
  /** `null` when nothing is there. A link is not followed: what is opened must be what was checked (REG-05). */
  stat(path: string): Promise<FileFacts | null>;
  /** Names in the folder; empty when it is missing. */
  list(path: string): Promise<string[]>;
  /** Opens for reading and writing, made with mode 0600 if missing. Never follows a link at the last step. */
  openWritable(path: string): Promise<WritableFile>;
  openReadable(path: string): Promise<ReadableFile>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Makes a rename or a new file durable. Does nothing where folders can't be synced (Windows). */
  syncFolder(path: string): Promise<void>;
  /** Bytes that this user may still write on the volume of `path`; `null` = not known. */
  freeBytes(path: string): Promise<number | null>;
};

export type FileFacts = {
  readonly kind: 'file' | 'folder' | 'other';
  readonly bytes: number;
  readonly mtimeMs: number;
  readonly inode: string;
};

export type ReadableFile = {
  size(): Promise<number>;
  /** Fills a part of `into` from `position`; returns how many bytes came, 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
};

export type WritableFile = ReadableFile & {
  /** @throws AppError DISK_FULL when the volume is full, STORE_IO for other failures. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  truncate(bytes: number): Promise<void>;
  sync(): Promise<void>;
};

const noFollow = fsConstants.O_NOFOLLOW ?? 0;

/** The Node form of {@link Files}. Failures are AppError DISK_FULL or STORE_IO; the message never holds a path (PV-14). */
export function createFiles(): Files {
  return {
    makeFolder: (path) => guarded(async () => void (await mkdir(path, { recursive: true, mode: 0o700 }))),
    stat: (path) =>
      guarded(async () => {
        const facts = await lstat(path, { bigint: true }).catch((error: unknown) => {
          if (isMissing(error)) return null;
          throw error;
        });
        if (facts === null) return null;
        return {
          kind: facts.isFile() ? 'file' : facts.isDirectory() ? 'folder' : 'other',
          bytes: Number(facts.size),
          mtimeMs: Number(facts.mtimeMs),
          inode: String(facts.ino),
        };
      }),
    list: (path) =>
      guarded(async () =>
        readdir(path).catch((error: unknown) => {
          if (isMissing(error)) return [];
          throw error;
        }),
      ),
    openWritable: (path) => guarded(async () => writable(await open(path, fsConstants.O_RDWR | fsConstants.O_CREAT | noFollow, 0o600))),
    openReadable: (path) => guarded(async () => readable(await open(path, fsConstants.O_RDONLY | noFollow))),
    rename: (from, to) => guarded(() => rename(from, to)),
    remove: (path) => guarded(() => rm(path, { recursive: true, force: true })),
    syncFolder: (path) =>
      guarded(async () => {
        if (process.platform === 'win32') return;
        const folder = await open(path, fsConstants.O_RDONLY);
        try {
          await folder.sync();
        } finally {
          await folder.close();
        }
      }),
    async freeBytes(path) {
      try {
        const facts = await statfs(path);
        return facts.bavail * facts.bsize;
      } catch {
        return null;
      }
    },
  };
}

function readable(handle: FileHandle): ReadableFile {
  return {
    size: () => guarded(async () => (await handle.stat()).size),
    read: (into, position) => guarded(async () => (await handle.read(into, 0, into.length, position)).bytesRead),
    close: () => guarded(() => handle.close()),
  };
}

function writable(handle: FileHandle): WritableFile {
  return {
    ...readable(handle),
    write: (bytes, position) =>
      guarded(async () => {
        let done = 0;
        while (done < bytes.length) {
          const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
          done += bytesWritten;
        }
      }),
    truncate: (bytes) => guarded(() => handle.truncate(bytes)),
    sync: () => guarded(() => handle.sync()),
  };
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) throw error;
    const code = systemCode(error);
    if (code === 'ENOSPC' || code === 'EDQUOT') throw new AppError('DISK_FULL', { neededBytes: 0, freeBytes: 0 }, { message: code });
    throw new AppError('STORE_IO', {}, { message: code ?? 'file system failure' });
  }
}

function isMissing(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function systemCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
