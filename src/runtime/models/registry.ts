import { join } from 'node:path';
import type { ModelId } from '../../shared/domain/ids.ts';
import type { InstalledModel } from '../../shared/domain/models.ts';
import { timestamp } from '../../shared/domain/time.ts';
import { AppError } from '../../shared/errors/appError.ts';
import { createLiveValue, type LiveValue } from '../../shared/util/liveValue.ts';
import type { Files } from '../platform/files.ts';
import type { Clock, Logger } from '../platform/ports.ts';
import type { InstalledModels, InstalledRow } from '../store/installed.ts';
import { hashFile } from './downloads/part.ts';

export type Registry = {
  /** Installed and tried models, newest first. A file that vanished or changed reads `rejected` with the reason. */
  list(): readonly InstalledModel[];
  /** The same list to follow. */
  readonly models: LiveValue<readonly InstalledModel[]>;
  get(modelId: ModelId): InstalledModel | null;
  /**
   * Absolute path of a usable model file. It never leaves the runtime but to an engine.
   *
   * @throws AppError MODEL_NOT_INSTALLED if there is none, or if it is rejected; MODEL_FILE_CORRUPT if the file changed since it was proven.
   */
  path(modelId: ModelId): Promise<string>;
  /** Looks at every file once: there, right size, same time and inode (REG-05). Call at start. */
  verify(): Promise<void>;
  /** Reads the table again after a transaction of the downloader. */
  refresh(): void;
};

/**
 * The installed models.
 *
 * @param deps.modelsDir  folder that the rows' names lie below.
 */
export function createRegistry(deps: { installed: InstalledModels; files: Files; modelsDir: string; clock: Clock; log: Logger }): Registry {
  const { installed, files, modelsDir, clock, log } = deps;
  /** What the last look at the disk found wrong; rows in the database keep what was proven. */
  const faults = new Map<string, 'missing' | 'changed'>();

  const shown = (row: InstalledRow): InstalledModel => {
    const fault = faults.get(row.id);
    return {
      id: row.id,
      name: row.name,
      slot: row.slot,
      bytes: row.bytes,
      sha256: row.sha256,
      state: fault === undefined ? row.state : 'rejected',
      reason: fault ?? row.reason,
      installedAt: timestamp(row.installedAtMs),
      ...(row.speedFactor === null ? {} : { speedFactor: row.speedFactor }),
    };
  };
  const read = () =>
    installed
      .list()
      .filter((row) => row.trialAtMs !== null)
      .map(shown);
  const models = createLiveValue<readonly InstalledModel[]>(read());

  const look = async (row: InstalledRow): Promise<'missing' | 'changed' | null> => {
    const path = join(modelsDir, row.folder, row.file);
    const facts = await files.stat(path);
    if (facts === null) return 'missing';
    if (facts.kind !== 'file' || facts.bytes !== row.bytes) return 'changed';
    const mtimeMs = Math.floor(facts.mtimeMs);
    if (facts.inode === row.inode && mtimeMs === row.mtimeMs) return null;
    // Copied back, or touched by a backup: the bytes decide (REG-05).
    const { sha256 } = await hashFile(files, path, new AbortController().signal);
    if (sha256 !== row.sha256) return 'changed';
    installed.put({ ...row, inode: facts.inode, mtimeMs, verifiedAtMs: clock.nowMs() });
    return null;
  };
  const note = (row: InstalledRow, fault: 'missing' | 'changed' | null) => {
    if (faults.get(row.id) === (fault ?? undefined)) return;
    if (fault === null) faults.delete(row.id);
    else faults.set(row.id, fault);
    log.warn('registry.file', { modelId: row.id, found: fault ?? 'ok' });
    models.set(read());
  };

  return {
    models,
    list: () => models.get(),
    get: (modelId) => models.get().find((model) => model.id === modelId) ?? null,
    async path(modelId) {
      const row = installed.get(modelId);
      if (row === null || row.trialAtMs === null || row.state === 'rejected') throw new AppError('MODEL_NOT_INSTALLED', { modelId });
      const fault = await look(row);
      note(row, fault);
      if (fault === 'missing') throw new AppError('MODEL_NOT_INSTALLED', { modelId });
      if (fault === 'changed') throw new AppError('MODEL_FILE_CORRUPT', { reason: 'changed since it was proven' });
      return join(modelsDir, row.folder, row.file);
    },
    async verify() {
      for (const row of installed.list()) note(row, await look(row));
    },
    refresh() {
      // A row that was just written tells of a file that was just looked at.
      faults.clear();
      models.set(read());
    },
  };
}
