import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { createInstalledModels } from '../../../src/runtime/store/installed.ts';
import { migration as models } from '../../../src/runtime/store/migrations/0002-models.ts';
import { migration as speed } from '../../../src/runtime/store/migrations/0004-speed.ts';
import { ModelId } from '../../../src/shared/domain/ids.ts';

it('0004-speed: a model that was installed before is still there, not measured; a speed is kept, and none of 0 or less', () => {
  const db = new Database(':memory:');
  models.up(db);
  db.exec(`INSERT INTO installed_models (id, name, slot, runtime_class, folder, file, bytes, sha256, mtime_ms, inode, source, state, reason,
    installed_at, verified_at, trial_at) VALUES ('joe', 'Joe', 'speak', 'piper', 'joe', 'joe.pack', 5, 'a', 1, '1', 'download', 'proven', NULL, 1, 1, 1)`);
  speed.up(db);
  const installed = createInstalledModels(db);
  const row = installed.get(ModelId.parse('joe'));
  expect(row).toMatchObject({ name: 'Joe', state: 'proven', trialAtMs: 1, speedFactor: null });
  if (row === null) throw new Error('the row is gone');
  installed.put({ ...row, speedFactor: 0.21 });
  expect(installed.list()).toMatchObject([{ speedFactor: 0.21 }]);
  expect(() => installed.put({ ...row, speedFactor: 0 })).toThrow(/CHECK/);
  const plan = db.prepare<[], { detail: string }>("EXPLAIN QUERY PLAN SELECT speed_factor FROM installed_models WHERE id = 'joe'").all();
  expect(plan.map(({ detail }) => detail).join()).toMatch(/USING (INDEX|PRIMARY KEY)|SEARCH/);
  db.close();
});
