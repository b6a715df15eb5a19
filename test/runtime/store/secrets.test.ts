import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createKeys } from '../../../src/runtime/store/keys.ts';
import { migrations } from '../../../src/runtime/store/migrations/index.ts';
import { openStore } from '../../../src/runtime/store/open.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';
import { verifies } from '../../helpers/verifies.ts';
import { keepingLog, tempPaths } from '../agent/harness.ts';

it('GE-05: a secret that the store knows stands in no file of it and in no log line', async () => {
  verifies('GE-05');
  const paths = tempPaths();
  const clock = createFakeClock();
  const { log, lines } = keepingLog();
  const store = await openStore({ paths, clock, log, migrations });
  const keys = createKeys({ db: store.db, clock });
  const { secret } = keys.create('mine');
  const { code } = keys.oneTimeCode();
  const page = keys.signIn(code, 'localhost:1');
  if (page === null) throw new Error('the code did not work');
  expect(keys.verify(secret, null)?.kind).toBe('key');
  const files = () =>
    readdirSync(paths.data, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
  // The write-ahead log while it is open, the database itself afterwards.
  const open = files();
  await store[Symbol.asyncDispose]();
  for (const text of [...open, ...files(), JSON.stringify(lines)])
    for (const word of [secret, secret.slice(9), code, page.secret]) expect(text.includes(word)).toBe(false);
});
