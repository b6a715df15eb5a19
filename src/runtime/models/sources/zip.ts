import { stat } from 'node:fs/promises';
import yauzl from 'yauzl';
import { AppError } from '../../../shared/errors/appError.ts';
import { createMemberCheck, type Extract, type Member, unsafe } from './archive.ts';

/**
 * Members of a zip file or wheel.
 *
 * @throws AppError ARCHIVE_UNSAFE_MEMBER, ARCHIVE_TOO_LARGE, SOURCE_FILE_MISSING if one is not there, CANCELLED.
 */
export const extractFromZip: Extract = async (path, members, { signal, sink }) => {
  const { size } = await stat(path);
  const zip = await open(path).catch((error: unknown) => {
    throw damaged(error);
  });
  try {
    const check = createMemberCheck(size);
    const found = new Map<string, yauzl.Entry>();
    for await (const entry of entriesOf(zip)) {
      if (signal.aborted) throw new AppError('CANCELLED');
      check.add({ name: entry.fileName, kind: kindOf(entry), bytes: entry.uncompressedSize });
      if (members.includes(entry.fileName)) found.set(entry.fileName, entry);
    }
    const wanted = members.flatMap((member) => found.get(member) ?? []);
    if (wanted.length < members.length) throw new AppError('SOURCE_FILE_MISSING', {}, { message: 'member is not in the package' });
    for (const member of wanted) {
      const stream = await openMember(zip, member);
      for await (const chunk of stream as AsyncIterable<Uint8Array>) {
        if (signal.aborted) throw new AppError('CANCELLED');
        await sink(chunk);
      }
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw damaged(error);
  } finally {
    zip.close();
  }
};

function damaged(cause: unknown): AppError {
  return new AppError('PACKAGE_FETCH_FAILED', { client: 'pip', exitCode: null, lastLine: 'the package is damaged' }, { cause });
}

function open(path: string): Promise<yauzl.ZipFile> {
  return new Promise((resolve, reject) => {
    yauzl.open(path, { lazyEntries: true, autoClose: false, strictFileNames: true }, (error, zip) => {
      if (error !== null) reject(error);
      else resolve(zip);
    });
  });
}

async function* entriesOf(zip: yauzl.ZipFile): AsyncGenerator<yauzl.Entry, void, void> {
  for (;;) {
    const entry = await new Promise<yauzl.Entry | null>((resolve, reject) => {
      const done = () => {
        zip.removeListener('entry', onEntry);
        zip.removeListener('end', onEnd);
        zip.removeListener('error', onError);
      };
      const onEntry = (found: yauzl.Entry) => {
        done();
        resolve(found);
      };
      const onEnd = () => {
        done();
        resolve(null);
      };
      const onError = (error: Error) => {
        done();
        // The library refuses absolute, climbing and backslash names by itself.
        reject(/absolute path|invalid relative path|invalid characters/.test(error.message) ? unsafe('name') : error);
      };
      zip.on('entry', onEntry);
      zip.on('end', onEnd);
      zip.on('error', onError);
      zip.readEntry();
    });
    if (entry === null) return;
    yield entry;
  }
}

function openMember(zip: yauzl.ZipFile, entry: yauzl.Entry): Promise<NodeJS.ReadableStream> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error !== null) reject(error);
      else resolve(stream);
    });
  });
}

/** The Unix mode, where the archive says that it holds one. */
function kindOf(entry: yauzl.Entry): Member['kind'] {
  const madeOnUnix = entry.versionMadeBy >>> 8 === 3;
  const type = madeOnUnix ? (entry.externalFileAttributes >>> 16) & 0o170000 : 0;
  if (type === 0o120000) return 'link';
  if (type !== 0 && type !== 0o100000 && type !== 0o040000) return 'other';
  return entry.fileName.endsWith('/') ? 'folder' : 'file';
}
