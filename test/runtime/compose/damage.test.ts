import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pathsOf } from '../../../src/runtime/platform/paths.ts';
import { damageVariable } from '../../../src/shared/contract/pageLink.ts';
import { createTestRuntime } from '../../helpers/testRuntime.ts';

it('damaged chats are never replaced by an empty app in silence; a person can choose that for one start', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'sotto-damage-'));
  try {
    await using first = await createTestRuntime({ dataDir });
    await first.client.sessions.start({});
    await first.stop();
    await writeFile(pathsOf(dataDir).database, 'this is no database, and long enough to be looked at as one '.repeat(200));
    for (let i = 0; i < 2; i++) await expect(createTestRuntime({ dataDir })).rejects.toMatchObject({ code: 'DB_DAMAGED' });
    // There is no backup yet, so there is nothing that "restore" could bring back.
    await expect(createTestRuntime({ dataDir, env: { [damageVariable]: 'restore' } })).rejects.toMatchObject({ code: 'DB_DAMAGED' });
    await expect(createTestRuntime({ dataDir, env: { [damageVariable]: 'anything' } })).rejects.toMatchObject({ code: 'DB_DAMAGED' });
    await using fresh = await createTestRuntime({ dataDir, env: { [damageVariable]: 'empty' } });
    expect((await fresh.client.sessions.list({})).sessions).toEqual([]);
    await fresh.stop();
    await using after = await createTestRuntime({ dataDir });
    expect((await after.client.sessions.list({})).sessions).toEqual([]);
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
});
