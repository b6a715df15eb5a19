import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createDownloads } from '../../../src/runtime/models/downloads/downloads.ts';
import type { Downloads } from '../../../src/runtime/models/downloads/types.ts';
import type { DownloadTarget, Prepare, Targets, Trial } from '../../../src/runtime/models/ports.ts';
import { createRegistry, type Registry } from '../../../src/runtime/models/registry.ts';
import { createPackages, type Packages } from '../../../src/runtime/models/sources/packages.ts';
import { createFetch } from '../../../src/runtime/platform/fetch.ts';
import { createFiles, type Files } from '../../../src/runtime/platform/files.ts';
import type { Clock, Fetch, Logger } from '../../../src/runtime/platform/ports.ts';
import { createDownloadJobs } from '../../../src/runtime/store/downloads.ts';
import { createInstalledModels, type InstalledModels } from '../../../src/runtime/store/installed.ts';
import { createLedger, type Ledger } from '../../../src/runtime/store/ledger.ts';
import { migration as modelTables } from '../../../src/runtime/store/migrations/0002-models.ts';
import { migration as speedColumn } from '../../../src/runtime/store/migrations/0004-speed.ts';
import { type JobId, ModelId } from '../../../src/shared/domain/ids.ts';
import type { DownloadJob, ModelSource } from '../../../src/shared/domain/models.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';

export const modelId = ModelId.parse('tiny-model');

export type HarnessOptions = {
  dir?: string;
  targets?: readonly DownloadTarget[];
  files?: Files;
  fetch?: Fetch;
  packages?: Packages;
  clock?: Clock;
  trial?: Trial;
  prepare?: Prepare;
  offline?: () => boolean;
  env?: Record<string, string>;
  npmEntry?: string | null;
  log?: Logger;
};

export type Harness = {
  readonly dir: string;
  readonly models: string;
  readonly parts: string;
  readonly db: Database.Database;
  readonly downloads: Downloads;
  readonly registry: Registry;
  readonly installed: InstalledModels;
  readonly ledger: Ledger;
  readonly files: Files;
  /** Waits until the job is in the phase (or a phase of the list). */
  until(jobId: JobId, ...phases: DownloadJob['phase'][]): Promise<DownloadJob>;
  job(jobId: JobId): DownloadJob;
  partPath(jobId: JobId): string;
  modelPath(): string;
  /** Ends this process's part of it and starts anew over the same folder, as a restart does. */
  restart(options?: HarnessOptions): Promise<Harness>;
  [Symbol.asyncDispose](): Promise<void>;
};

export const silent: Logger = { info() {}, warn() {}, error() {} };

/** The whole download side over a real database and real files; only the outside world is given by the test. */
export function createHarness(options: HarnessOptions = {}): Harness {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'sotto-dl-'));
  const models = join(dir, 'models');
  const parts = join(models, '.parts');
  mkdirSync(parts, { recursive: true });
  const db = new Database(join(dir, 'sotto.db'));
  db.pragma('journal_mode = WAL');
  if (db.pragma('user_version', { simple: true }) === 0) {
    modelTables.up(db);
    speedColumn.up(db);
    db.pragma('user_version = 4');
  }
  const clock = options.clock ?? createFakeClock();
  const log = options.log ?? silent;
  const files = options.files ?? createFiles();
  const ledger = createLedger({ db, clock });
  const offline = options.offline ?? (() => false);
  const fetch = options.fetch ?? createFetch({ ledger, clock, log, offline, env: {} });
  const installed = createInstalledModels(db);
  const registry = createRegistry({ installed, files, modelsDir: models, clock, log });
  const env = { PATH: process.env['PATH'] ?? '', HOME: dir, ...options.env };
  const packages = options.packages ?? createPackages({ files, ledger, clock, log, npmEntry: options.npmEntry ?? null, offline, env });
  const targets: Targets = { find: (id) => options.targets?.find((target) => target.modelId === id) ?? null };
  const downloads = createDownloads({
    jobs: createDownloadJobs(db),
    installed,
    registry,
    targets,
    fetch,
    packages,
    files,
    clock,
    log,
    paths: { models, parts },
    trial: options.trial ?? (async () => undefined),
    prepare: options.prepare ?? (() => Promise.reject(new AppError('UNSUPPORTED', { what: 'preparing' }))),
    offline,
    random: () => 0.5,
  });
  const job = (jobId: JobId) => {
    const found = downloads.get(jobId);
    if (found === null) throw new Error('no such job');
    return found;
  };
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await downloads[Symbol.asyncDispose]();
    db.close();
  };
  return {
    dir,
    models,
    parts,
    db,
    downloads,
    registry,
    installed,
    ledger,
    files,
    job,
    async until(jobId, ...phases) {
      await untilTrue(
        () => phases.includes(job(jobId).phase),
        () => `${phases.join('/')}, is ${JSON.stringify(job(jobId))}`,
      );
      return job(jobId);
    },
    partPath: (jobId) => join(parts, jobId, '0.part'),
    modelPath: () => join(models, modelId, 'tiny.gguf'),
    async restart(more = {}) {
      await close();
      return createHarness({ ...options, ...more, dir });
    },
    async [Symbol.asyncDispose]() {
      await close();
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Polls for a state; gives up after 20 s of real time with the words of `what`. */
export async function untilTrue(isTrue: () => boolean, what: () => string): Promise<void> {
  const end = performance.now() + 20_000;
  while (!isTrue()) {
    if (performance.now() > end) throw new Error(`waited for ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** A target for these bytes, from addresses or other sources. */
export function targetOf(
  bytes: Uint8Array,
  sources: readonly (string | ModelSource)[],
  more: Partial<DownloadTarget['file']> = {},
): DownloadTarget {
  return {
    modelId,
    name: 'Tiny',
    slot: 'language',
    runtimeClass: 'generic-gguf',
    file: { name: 'tiny.gguf', bytes: bytes.length, sha256: sha256(bytes), ...more },
    sources: sources.map((source) => (typeof source === 'string' ? { kind: 'hub', url: source, mirrors: [] } : source)),
  };
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
