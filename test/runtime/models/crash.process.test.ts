import { fork } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { faultServer } from '../../helpers/faultServer.ts';
import { tinyGguf } from '../../helpers/ggufBytes.ts';
import { verifies } from '../../helpers/verifies.ts';
import { modelId, sha256 } from './harness.ts';

const data = 600_000;
const model = tinyGguf({ data });

/** Runs the child to its end; `null` = killed. */
function run(dir: string, url: string, killAt: string | null): Promise<number | null> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: dir, ...(killAt === null ? {} : { SOTTO_KILL_AT: killAt }) };
  const child = fork(resolve('test/runtime/models/crashMain.ts'), [dir, url, String(data)], { env, execArgv: [], stdio: 'inherit' });
  return new Promise((done) => child.once('exit', (code) => done(code)));
}

/** PR-05, RB-23: a resumable part, or a whole and proven file; never anything else that could be taken for a model. */
function expectSound(dir: string): void {
  const final = join(dir, 'models', modelId, 'tiny.gguf');
  if (existsSync(final)) expect(sha256(readFileSync(final))).toBe(sha256(model));
  if (existsSync(join(dir, 'models', modelId)))
    expect(readdirSync(join(dir, 'models', modelId)).filter((name) => name !== 'tiny.gguf')).toEqual([]);
  const parts = join(dir, 'models', '.parts');
  const jobs = readdirSync(parts);
  expect(jobs.length).toBeLessThanOrEqual(1);
  for (const job of jobs) {
    for (const name of readdirSync(join(parts, job))) {
      const part = readFileSync(join(parts, job, name));
      expect(part.equals(model.subarray(0, part.length))).toBe(true);
    }
  }
  const db = new Database(join(dir, 'sotto.db'));
  try {
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    const listed = db.prepare('SELECT id FROM installed_models WHERE trial_at IS NOT NULL').all();
    const done = db.prepare("SELECT job_id FROM downloads WHERE phase = 'installed'").all();
    // Listed and done come in one transaction; both need the file.
    expect(listed.length).toBe(done.length);
    if (listed.length > 0) expect(existsSync(final)).toBe(true);
  } finally {
    db.close();
  }
}

describe('kill -9 at every point of a download', () => {
  it('DL-13, RB-23: leaves a resumable part or a proven model, and the next start ends it', { timeout: 180_000 }, async () => {
    verifies('DL-13', 'DL-07');
    await using server = await faultServer([{ path: '/m.gguf', body: model, bytesPerSecond: 20_000_000 }]);
    let points = 0;
    for (let n = 1; ; n++) {
      const dir = mkdtempSync(join(tmpdir(), 'sotto-crash-'));
      try {
        const first = await run(dir, server.url('/m.gguf'), String(n));
        expectSound(dir);
        if (first === 0) break;
        expect(first).toBeNull();
        points += 1;
        // The second process dies while it reads the part again, if it has to; the third ends it.
        await run(dir, server.url('/m.gguf'), 'download.midHash');
        expectSound(dir);
        expect(await run(dir, server.url('/m.gguf'), null)).toBe(0);
        expectSound(dir);
        expect(existsSync(join(dir, 'models', modelId, 'tiny.gguf'))).toBe(true);
        expect(readdirSync(join(dir, 'models', '.parts'))).toEqual([]);
      } finally {
        rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
      }
    }
    // Three writes, last byte, before and after rename, row, trial, after trial.
    expect(points).toBeGreaterThanOrEqual(8);
    // What was on disk was not fetched again: no restart from 0 but for kills before the first write reached it.
    expect(server.requests.filter((request) => request.headers['range'] !== undefined).length).toBeGreaterThan(1);
  });
});
