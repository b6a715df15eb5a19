import type { Database } from 'better-sqlite3';
import type { ModelId } from '../../shared/domain/ids.ts';
import type { ModelSlot, RuntimeClass } from '../../shared/domain/models.ts';

/** One installed file as the registry keeps it (REG-01). `folder` and `file` are names below the models folder, never absolute. */
export type InstalledRow = {
  readonly id: ModelId;
  readonly name: string;
  readonly slot: ModelSlot;
  readonly runtimeClass: RuntimeClass;
  readonly folder: string;
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly mtimeMs: number;
  readonly inode: string;
  readonly source: 'download' | 'import' | 'external';
  readonly state: 'proven' | 'unproven' | 'rejected';
  readonly reason: string | null;
  readonly installedAtMs: number;
  readonly verifiedAtMs: number;
  /** When a trial load last ended; `null` = not tried yet, so the model is not listed (PR-05). */
  readonly trialAtMs: number | null;
  /** Of a speaking model: seconds that the trial took for one second of speech; `null` = not measured. */
  readonly speedFactor: number | null;
};

export type InstalledModels = {
  put(row: InstalledRow): void;
  get(id: ModelId): InstalledRow | null;
  list(): InstalledRow[];
  remove(id: ModelId): void;
};

type Row = Record<string, unknown>;

/** The table `installed_models`. */
export function createInstalledModels(db: Database): InstalledModels {
  const upsert = db.prepare<Row>(`
    INSERT INTO installed_models (id, name, slot, runtime_class, folder, file, bytes, sha256, mtime_ms, inode, source, state, reason,
      installed_at, verified_at, trial_at, speed_factor)
    VALUES (@id, @name, @slot, @runtimeClass, @folder, @file, @bytes, @sha256, @mtimeMs, @inode, @source, @state, @reason,
      @installedAtMs, @verifiedAtMs, @trialAtMs, @speedFactor)
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, slot = excluded.slot, runtime_class = excluded.runtime_class,
      folder = excluded.folder, file = excluded.file, bytes = excluded.bytes, sha256 = excluded.sha256, mtime_ms = excluded.mtime_ms,
      inode = excluded.inode, source = excluded.source, state = excluded.state, reason = excluded.reason,
      installed_at = excluded.installed_at, verified_at = excluded.verified_at, trial_at = excluded.trial_at,
      speed_factor = excluded.speed_factor`);
  const columns = `id, name, slot, runtime_class AS runtimeClass, folder, file, bytes, sha256, mtime_ms AS mtimeMs, inode, source, state,
    reason, installed_at AS installedAtMs, verified_at AS verifiedAtMs, trial_at AS trialAtMs, speed_factor AS speedFactor`;
  const one = db.prepare<[string], InstalledRow>(`SELECT ${columns} FROM installed_models WHERE id = ?`);
  const all = db.prepare<[], InstalledRow>(`SELECT ${columns} FROM installed_models ORDER BY installed_at DESC, id`);
  const drop = db.prepare<[string]>('DELETE FROM installed_models WHERE id = ?');
  return {
    put: (row) => void upsert.run({ ...row, mtimeMs: Math.floor(row.mtimeMs) }),
    get: (id) => one.get(id) ?? null,
    list: () => all.all(),
    remove: (id) => void drop.run(id),
  };
}
