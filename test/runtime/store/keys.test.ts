import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createKeys, keyLimits } from '../../../src/runtime/store/keys.ts';
import { migration } from '../../../src/runtime/store/migrations/0003-server.ts';
import { KeyId } from '../../../src/shared/domain/ids.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';

let db: Database.Database;
const clock = createFakeClock();
const fresh = () => createKeys({ db, clock });

beforeEach(() => {
  db = new Database(':memory:');
  migration.up(db);
});
afterEach(() => db.close());

const host = '127.0.0.1:17717';
/** Everything the file holds, as text. */
const stored = () =>
  JSON.stringify(['access_keys', 'sign_in_codes'].map((table) => db.prepare(`SELECT * FROM ${table}`).all())).concat(
    db.serialize().toString('latin1'),
  );

it('SV-10: a key has 256 random bits, is shown once, and is stored as its digest only', () => {
  const keys = fresh();
  const { key, secret } = keys.create('script');
  expect(secret).toMatch(/^sotto_ak_[A-Za-z0-9_-]{43}$/);
  expect(Buffer.from(secret.slice(9), 'base64url').length).toBe(32);
  expect(stored()).not.toContain(secret);
  expect(stored()).not.toContain(secret.slice(9));
  expect(JSON.stringify(keys.list())).not.toContain(secret);
  expect(keys.verify(secret, null)).toEqual({ keyId: key.id, kind: 'key' });
  expect(new Set(Array.from({ length: 50 }, (_, i) => keys.create(`k${i}`).secret)).size).toBe(50);
});

it('codes and pages are stored as digests too', () => {
  const keys = fresh();
  const { code } = keys.oneTimeCode();
  expect(stored()).not.toContain(code);
  expect(stored()).not.toContain(code.replace('-', ''));
  const page = keys.signIn(code, host);
  expect(page).not.toBe(null);
  expect(stored()).not.toContain(page?.secret);
});

it('a restart knows every key, page, end and revocation', () => {
  const keys = fresh();
  const kept = keys.create('kept');
  const gone = keys.create('gone');
  const page = keys.signIn(keys.oneTimeCode().code, host);
  const { code } = keys.oneTimeCode();
  keys.revoke(gone.key.id);
  const again = fresh();
  expect(again.verify(kept.secret, null)?.keyId).toBe(kept.key.id);
  expect(again.verify(gone.secret, null)).toBe(null);
  expect(again.verify(page?.secret ?? '', { host })?.kind).toBe('page');
  expect(again.signIn(code, host)).not.toBe(null);
  clock.advance(keyLimits.pageMs);
  expect(fresh().verify(page?.secret ?? '', { host })).toBe(null);
});

it('a use is written at most once a minute, and a page that is used lives on over a restart', () => {
  const keys = fresh();
  const page = keys.signIn(keys.oneTimeCode().code, host);
  const written = () => db.prepare<[], { last_used_at: number | null }>('SELECT last_used_at FROM access_keys').get()?.last_used_at;
  keys.verify(page?.secret ?? '', { host });
  const first = written();
  clock.advance(1000);
  keys.verify(page?.secret ?? '', { host });
  expect(written()).toBe(first);
  clock.advance(keyLimits.writeEveryMs);
  keys.verify(page?.secret ?? '', { host });
  expect(written()).toBe(clock.nowMs());
  clock.advance(keyLimits.pageMs - 1);
  expect(fresh().verify(page?.secret ?? '', { host })).not.toBe(null);
});

it('a disk that cannot be written signs nobody out', () => {
  const keys = fresh();
  const { secret, key } = keys.create('script');
  clock.advance(keyLimits.writeEveryMs);
  db.pragma('query_only = true');
  expect(keys.verify(secret, null)?.keyId).toBe(key.id);
  expect(() => keys.revoke(key.id)).toThrow();
  // What could not be stored did not happen.
  expect(keys.verify(secret, null)?.keyId).toBe(key.id);
});

it('nothing grows without end: keys, pages, codes and the list', () => {
  const keys = fresh();
  for (let i = 0; i < keyLimits.live; i++) keys.create(`k${i}`);
  expect(() => keys.create('one too many')).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
  const pages = Array.from({ length: keyLimits.pages + 3 }, () => {
    clock.advance(1);
    return keys.signIn(keys.oneTimeCode().code, host)?.secret ?? '';
  });
  expect(pages.map((secret) => keys.verify(secret, { host }) !== null)).toEqual([
    ...Array(3).fill(false),
    ...Array(keyLimits.pages).fill(true),
  ]);
  for (let i = 0; i < 20; i++) keys.oneTimeCode();
  expect(db.prepare<[], { n: number }>('SELECT count(*) AS n FROM sign_in_codes').get()?.n).toBe(keyLimits.codes);
  expect(keys.list().length).toBeLessThanOrEqual(keyLimits.listed);
});

it('revoking twice is once, and an unknown id is NOT_FOUND', () => {
  const keys = fresh();
  const { key } = keys.create('script');
  const told: string[] = [];
  keys.onRevoked((id) => told.push(id));
  const first = keys.revoke(key.id);
  clock.advance(5000);
  expect(keys.revoke(key.id)).toEqual(first);
  expect(told).toEqual([key.id]);
  expect(() => keys.revoke(KeyId.parse(`key_${'0'.repeat(32)}`))).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
});
