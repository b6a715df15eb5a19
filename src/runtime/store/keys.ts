import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { KeyInfo } from '../../shared/contract/server.ts';
import { type KeyId, newId } from '../../shared/domain/ids.ts';
import { timestamp } from '../../shared/domain/time.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { Clock } from '../../shared/util/clock.ts';

/** Who stands behind a connection. `kind` page = a browser that signed in with a one-time code. */
export type Caller = { readonly keyId: KeyId; readonly kind: 'key' | 'page' };

export type Keys = {
  /** Live keys and pages first, then the newest revoked or expired ones; at most `keyLimits.listed`. */
  list(): KeyInfo[];
  /** `secret` is shown once: the store keeps its digest only. Throws INVALID_INPUT when `keyLimits.live` is reached. */
  create(name: string): { key: KeyInfo; secret: string };
  /** Ends a key or page at once; listeners of `onRevoked` run before it returns. Throws NOT_FOUND. */
  revoke(keyId: KeyId): KeyInfo;
  /**
   * The caller of a secret, or null. Costs one digest and one comparison with every live row, whatever `secret` is.
   *
   * @param secret  what came in the header or the cookie.
   * @param page    null for a bearer key; else the Host that the cookie came with, which must be the one it was made for.
   */
  verify(secret: string, page: { host: string } | null): Caller | null;
  /** False once the caller's key was revoked or its page expired. */
  isLive(keyId: KeyId): boolean;
  /** `isLive`, and counts as a use: a page lives 12 h from its last one. */
  use(keyId: KeyId): boolean;
  /** A code of `keyLimits.codeMs` that signs one page in. At most `keyLimits.codes` live at a time: the oldest goes first. */
  oneTimeCode(): { code: string; expiresAt: string };
  /** Uses a code up. Null when it is wrong, used or too old. Upper or lower case, with or without dash. */
  signIn(code: string, host: string): { key: KeyInfo; secret: string } | null;
  onRevoked(listener: (keyId: KeyId) => void): () => void;
  /** Digests compared since the start: what a test counts in place of time. */
  comparisons(): number;
};

/** http-backend page, section 1 (SV-07): code 10 min, page 12 h from its last use. Times in ms. */
export const keyLimits = {
  codeMs: 600_000,
  pageMs: 12 * 3_600_000,
  /** `last_used_at` and a page's end are written at most this often; a crash forgets no more than this. */
  writeEveryMs: 60_000,
  live: 100,
  pages: 64,
  codes: 5,
  listed: 200,
  /** Longer credentials are not even hashed. */
  secretCharacters: 256,
} as const;

const keyPrefix = 'sotto_ak_';
// Without I, L, O and U: nothing that is read out or typed can be mistaken (Crockford's base 32).
const codeAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

type Row = {
  id: KeyId;
  kind: 'key' | 'page';
  name: string;
  digest: Buffer;
  host: string | null;
  created_at: number;
  last_used_at: number | null;
  expires_at: number | null;
  revoked_at: number | null;
};

/** One transaction: `Store.write`, which turns SQLite's faults into ours. */
type Write = <T>(work: () => T) => T;

/**
 * Access keys, signed-in pages and one-time codes over one database. Live rows are held in memory, since every request asks; this
 * process is the only writer of its data folder.
 */
export function createKeys(deps: { db: Database; clock: Clock; write?: Write }): Keys {
  const { db, clock } = deps;
  const write: Write = deps.write ?? ((work) => db.transaction(work)());
  const sql = statements(db);
  let compared = 0;
  const listeners = new Set<(keyId: KeyId) => void>();
  const live = new Map<KeyId, Row & { writtenMs: number }>();
  for (const row of sql.live.all(clock.nowMs())) live.set(row.id, { ...row, writtenMs: row.last_used_at ?? 0 });

  const expired = (row: Row) => row.expires_at !== null && row.expires_at <= clock.nowMs();

  function add(kind: 'key' | 'page', name: string, secret: string, host: string | null): KeyInfo {
    const now = clock.nowMs();
    const row: Row = {
      id: newId('key', now),
      kind,
      name,
      digest: sha256(secret),
      host,
      created_at: now,
      last_used_at: null,
      expires_at: kind === 'page' ? now + keyLimits.pageMs : null,
      revoked_at: null,
    };
    write(() => sql.insert.run(row));
    live.set(row.id, { ...row, writtenMs: 0 });
    return info(row);
  }

  function used(row: Row & { writtenMs: number }): void {
    const now = clock.nowMs();
    row.last_used_at = now;
    if (row.kind === 'page') row.expires_at = now + keyLimits.pageMs;
    if (now - row.writtenMs < keyLimits.writeEveryMs) return;
    row.writtenMs = now;
    try {
      sql.used.run(now, row.expires_at, row.id);
    } catch {
      // A full or read-only disk must not sign anybody out; the next use after a minute writes again.
    }
  }

  const keys: Keys = {
    list() {
      const fresh = new Map([...live.values()].filter((row) => !expired(row)).map((row) => [row.id, row]));
      const gone = sql.all.all(keyLimits.listed).filter((row) => !fresh.has(row.id));
      const rows = [...[...fresh.values()].sort((a, b) => b.created_at - a.created_at), ...gone];
      return rows.slice(0, keyLimits.listed).map(info);
    },
    create(name) {
      if ([...live.values()].filter((row) => row.kind === 'key').length >= keyLimits.live)
        throw new AppError('INVALID_INPUT', { field: 'keys', reason: 'range' });
      const secret = keyPrefix + randomBytes(32).toString('base64url');
      return { key: add('key', name, secret, null), secret };
    },
    revoke(keyId) {
      const row = live.get(keyId) ?? sql.one.get(keyId);
      if (row === undefined) throw new AppError('NOT_FOUND');
      if (row.revoked_at !== null) return info(row);
      const now = clock.nowMs();
      write(() => sql.revoke.run(now, keyId));
      live.delete(keyId);
      for (const listener of listeners) listener(keyId);
      return info({ ...row, revoked_at: now });
    },
    verify(secret, page) {
      const presented = sha256(secret.length > keyLimits.secretCharacters ? '' : secret);
      let found: (Row & { writtenMs: number }) | null = null;
      // No early end and no look-up by digest: a near miss takes as long as a far one (RB-10).
      for (const row of live.values()) {
        compared++;
        if (timingSafeEqual(row.digest, presented)) found = row;
      }
      if (found === null || expired(found)) return null;
      if (page === null ? found.kind !== 'key' : found.kind !== 'page' || found.host !== page.host) return null;
      used(found);
      return { keyId: found.id, kind: found.kind };
    },
    isLive(keyId) {
      const row = live.get(keyId);
      return row !== undefined && !expired(row);
    },
    use(keyId) {
      const row = live.get(keyId);
      if (row === undefined || expired(row)) return false;
      used(row);
      return true;
    },
    oneTimeCode() {
      const now = clock.nowMs();
      const code = [...randomBytes(8)].map((byte) => codeAlphabet[byte % 32]).join('');
      write(() => {
        sql.dropCodes.run(now, keyLimits.codes - 1);
        sql.addCode.run(sha256(code), now, now + keyLimits.codeMs);
      });
      return { code: `${code.slice(0, 4)}-${code.slice(4)}`, expiresAt: timestamp(now + keyLimits.codeMs) };
    },
    signIn(code, host) {
      const now = clock.nowMs();
      const presented = sha256(normalCode(code));
      let found = false;
      for (const row of sql.codes.all(now)) if (timingSafeEqual(row.digest, presented)) found = true;
      if (!found) return null;
      const secret = randomBytes(32).toString('base64url');
      const pages = [...live.values()].filter((row) => row.kind === 'page').sort((a, b) => lastSeen(a) - lastSeen(b));
      for (const row of pages.slice(0, Math.max(0, pages.length - keyLimits.pages + 1))) keys.revoke(row.id);
      return write(() => {
        sql.useCode.run(presented);
        return { key: add('page', `page at ${host}`, secret, host), secret };
      });
    },
    onRevoked(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    comparisons: () => compared,
  };
  return keys;
}

function statements(db: Database) {
  return {
    live: db.prepare<[number], Row>('SELECT * FROM access_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)'),
    all: db.prepare<[number], Row>('SELECT * FROM access_keys ORDER BY created_at DESC LIMIT ?'),
    one: db.prepare<[string], Row>('SELECT * FROM access_keys WHERE id = ?'),
    insert: db.prepare<Row>(
      `INSERT INTO access_keys (id, kind, name, digest, host, created_at, last_used_at, expires_at, revoked_at)
       VALUES (@id, @kind, @name, @digest, @host, @created_at, @last_used_at, @expires_at, @revoked_at)`,
    ),
    used: db.prepare<[number, number | null, string]>('UPDATE access_keys SET last_used_at = ?, expires_at = ? WHERE id = ?'),
    revoke: db.prepare<[number, string]>('UPDATE access_keys SET revoked_at = ? WHERE id = ?'),
    codes: db.prepare<[number], { digest: Buffer }>('SELECT digest FROM sign_in_codes WHERE expires_at > ?'),
    addCode: db.prepare<[Buffer, number, number]>('INSERT INTO sign_in_codes (digest, created_at, expires_at) VALUES (?, ?, ?)'),
    useCode: db.prepare<[Buffer]>('DELETE FROM sign_in_codes WHERE digest = ?'),
    dropCodes: db.prepare<[number, number]>(
      `DELETE FROM sign_in_codes WHERE expires_at <= ?
       OR digest NOT IN (SELECT digest FROM sign_in_codes ORDER BY created_at DESC LIMIT ?)`,
    ),
  };
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

const lastSeen = (row: Row): number => row.last_used_at ?? row.created_at;

/** What a person typed, as the code was made: no dashes or spaces, and the letters that look like digits as those digits. */
function normalCode(typed: string): string {
  return typed.slice(0, 64).toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1');
}

const at = (ms: number | null) => (ms === null ? null : timestamp(ms));

function info(row: Row): KeyInfo {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    createdAt: timestamp(row.created_at),
    lastUsedAt: at(row.last_used_at),
    expiresAt: at(row.expires_at),
    revokedAt: at(row.revoked_at),
  };
}
