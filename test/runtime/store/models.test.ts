import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newJob } from '../../../src/runtime/models/downloads/jobs.ts';
import { createDownloadJobs } from '../../../src/runtime/store/downloads.ts';
import { createInstalledModels, type InstalledRow } from '../../../src/runtime/store/installed.ts';
import { createLedger } from '../../../src/runtime/store/ledger.ts';
import { migration } from '../../../src/runtime/store/migrations/0002-models.ts';
import { migration as speedColumn } from '../../../src/runtime/store/migrations/0004-speed.ts';
import { ModelId } from '../../../src/shared/domain/ids.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';

let db: Database.Database;
beforeEach(() => {
  db = new Database(':memory:');
  migration.up(db);
  speedColumn.up(db);
});
afterEach(() => db.close());

const id = (name: string) => ModelId.parse(name);
const job = (name: string, at: number) => newJob(id(name), 100, 1, at);
const plan = (sql: string) =>
  db
    .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map((row) => row.detail)
    .join('; ');

describe('the job table', () => {
  it('gives back what was put, unfinished first, then the newest finished ones', () => {
    const jobs = createDownloadJobs(db);
    for (let i = 0; i < 40; i++) jobs.put({ ...job(`old-${i}`, 1000 + i), phase: 'installed' });
    const open = job('open', 5000);
    jobs.put(open);
    const loaded = jobs.load(32);
    expect(loaded.unreadable).toBe(0);
    expect(loaded.jobs[0]).toEqual(open);
    expect(loaded.jobs.slice(1).map((one) => one.modelId)).toEqual(Array.from({ length: 32 }, (_, i) => `old-${39 - i}`));
    jobs.trim(32);
    expect(jobs.load(100).jobs).toHaveLength(33);
  });

  it('a second open job of a model is refused, one beside an installed job is not (DL-01)', () => {
    const jobs = createDownloadJobs(db);
    jobs.put({ ...job('m', 1), phase: 'installed' });
    jobs.put({ ...job('m', 2), phase: 'failed' });
    for (const phase of ['queued', 'paused', 'cancelled'] as const) expect(() => jobs.put({ ...job('m', 3), phase })).toThrow(/UNIQUE/);
  });

  it('a damaged row costs only itself', () => {
    const jobs = createDownloadJobs(db);
    jobs.put(job('a', 1));
    jobs.put(job('b', 2));
    for (const state of ['{"jobId":', '{}', 'null']) {
      db.prepare("UPDATE downloads SET state = ? WHERE model_id = 'a'").run(state);
      expect(jobs.load(32)).toMatchObject({ unreadable: 1, jobs: [{ modelId: 'b' }] });
    }
  });

  it('all of a transaction or nothing', () => {
    const jobs = createDownloadJobs(db);
    expect(() =>
      jobs.transaction(() => {
        jobs.put(job('a', 1));
        throw new Error('power cut');
      }),
    ).toThrow('power cut');
    expect(jobs.load(32).jobs).toEqual([]);
  });
});

describe('the installed models', () => {
  it('are put, replaced, listed newest first and removed', () => {
    const installed = createInstalledModels(db);
    const row: InstalledRow = {
      id: id('m'),
      name: 'M',
      slot: 'language',
      runtimeClass: 'generic-gguf',
      folder: 'm',
      file: 'm.gguf',
      bytes: 5,
      sha256: 'a'.repeat(64),
      mtimeMs: 1_700_000_000_123,
      inode: '18446744073709551615',
      source: 'download',
      state: 'proven',
      reason: null,
      installedAtMs: 1,
      verifiedAtMs: 1,
      trialAtMs: null,
      speedFactor: null,
    };
    installed.put(row);
    installed.put({ ...row, id: id('n'), installedAtMs: 2 });
    installed.put({ ...row, state: 'rejected', reason: 'ENGINE_CRASHED', trialAtMs: 3 });
    expect(installed.list().map((one) => one.id)).toEqual(['n', 'm']);
    expect(installed.get(id('m'))).toEqual({ ...row, state: 'rejected', reason: 'ENGINE_CRASHED', trialAtMs: 3 });
    installed.remove(id('m'));
    expect(installed.get(id('m'))).toBeNull();
  });
});

describe('the ledger', () => {
  it('a row left open by a crash stays open, and an ended one cannot be ended again', () => {
    const ledger = createLedger({ db, clock: createFakeClock() });
    const entry = { reason: 'package', host: 'h', port: null, asker: 'x' } as const;
    const first = ledger.open(entry);
    ledger.open(entry);
    ledger.close(first, { result: 'ok', sentBytes: 1, receivedBytes: 2 });
    ledger.close(first, { result: 'failed', sentBytes: 9, receivedBytes: 9 });
    expect(ledger.list({ limit: 10 }).rows.map((row) => [row.result, row.receivedBytes])).toEqual([
      ['open', null],
      ['ok', 2],
    ]);
  });

  it('pages by its key and prunes by its index', () => {
    expect(plan('SELECT * FROM ledger WHERE id < 5 ORDER BY id DESC LIMIT 10')).toMatch(/PRIMARY KEY/);
    expect(plan('DELETE FROM ledger WHERE at < 5')).toMatch(/ledger_by_time/);
    expect(plan("SELECT state FROM downloads WHERE phase IN ('installed') ORDER BY updated_at DESC LIMIT 5")).toMatch(
      /downloads_by_update/,
    );
  });
});
