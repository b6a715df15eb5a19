import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFakeClock } from '../../helpers/fakeClock.ts';
import { verifies } from '../../helpers/verifies.ts';
import { head, type RawReply, raw, startTestServer, type TestServer } from './testServer.ts';

let pageDir: string;
let server: TestServer;
const clock = createFakeClock();
const hour = 3_600_000;

beforeEach(async () => {
  pageDir = mkdtempSync(join(tmpdir(), 'sotto-page-'));
  writeFileSync(join(pageDir, 'index.html'), '<!doctype html><title>the page</title>');
  server = await startTestServer({ pageDir, clock });
});
afterEach(async () => {
  const closing = server[Symbol.asyncDispose]();
  await clock.advanceAsync(10_000);
  await closing;
  rmSync(pageDir, { recursive: true });
});

function signIn(code: string, headers: Record<string, string> = {}): Promise<RawReply> {
  const body = `code=${encodeURIComponent(code)}`;
  const all = { host: server.host, 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(body.length), ...headers };
  return raw(server.port, head('POST', '/login', all) + body);
}
const get = (path: string, cookie?: string, host = server.host) => raw(server.port, head('GET', path, { host, cookie }));
const cookieOf = (reply: RawReply) => (reply.headers['set-cookie'] ?? '').split(';')[0] ?? '';

it('SV-07: a code becomes a cookie that opens the page, once', async () => {
  verifies('SV-07');
  const { code } = server.keys.oneTimeCode();
  const reply = await signIn(code);
  expect([reply.status, reply.headers.location]).toEqual([303, '/']);
  expect(reply.headers['set-cookie']).toMatch(
    new RegExp(`^sotto_page_${server.port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200$`),
  );
  const page = await get('/', cookieOf(reply));
  expect([page.status, page.body]).toEqual([200, '<!doctype html><title>the page</title>']);
  expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
  expect(page.headers['content-security-policy']).toContain("form-action 'none'; frame-ancestors 'none'");
  expect(page.headers['permissions-policy']).toMatch(/camera=\(\),.*microphone=\(self\)/);
  expect(page.headers['x-content-type-options']).toBe('nosniff');
  // Used up.
  expect((await signIn(code)).status).toBe(401);
  // As a person types it.
  const second = server.keys.oneTimeCode().code;
  expect((await signIn(` ${second.toLowerCase().replace('-', ' ')} `)).status).toBe(303);
});

it('SV-07: a code lasts ten minutes, and asking for many leaves five', async () => {
  verifies('SV-07');
  const { code } = server.keys.oneTimeCode();
  clock.advance(600_000);
  expect((await signIn(code)).status).toBe(401);
  const codes = Array.from({ length: 6 }, () => {
    clock.advance(1);
    return server.keys.oneTimeCode().code;
  });
  expect((await signIn(codes[0] ?? '')).status).toBe(401);
  expect((await signIn(codes[1] ?? '')).status).toBe(303);
});

it('SV-07: the cookie counts for its own host, 12 h from the last use, and until it is revoked', async () => {
  verifies('SV-07', 'SV-10');
  const cookie = cookieOf(await signIn(server.keys.oneTimeCode().code));
  expect((await get('/', cookie, `localhost:${server.port}`)).status).toBe(401);
  for (let i = 0; i < 3; i++) {
    clock.advance(12 * hour - 1000);
    expect((await get('/', cookie)).status).toBe(200);
  }
  clock.advance(12 * hour);
  expect((await get('/', cookie)).status).toBe(401);
  const again = cookieOf(await signIn(server.keys.oneTimeCode().code));
  const page = server.keys.list().find((key) => key.kind === 'page');
  expect(page).toMatchObject({ kind: 'page', revokedAt: null, name: `page at ${server.host}` });
  if (page !== undefined) server.keys.revoke(page.id);
  expect((await get('/', again)).status).toBe(401);
});

it('UX-283: the form says what it wants and where to get it, and works without script', async () => {
  verifies('SV-07', 'UX-283');
  const reply = await get('/');
  expect(reply.status).toBe(401);
  expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(reply.headers['www-authenticate']).toBe('Bearer');
  expect(reply.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'/);
  // `no-referrer` would make browsers send this very form with `Origin: null`.
  expect(reply.headers['referrer-policy']).toBe('same-origin');
  expect(reply.body).toContain('<label for="code">One-time code</label>');
  expect(reply.body).toContain('<code>sotto keys code</code>');
  expect(reply.body).toContain('A code lasts 10 minutes and works once.');
  expect(reply.body).not.toMatch(/<script|role="alert"|the page/);
  expect((await get('/login')).body).toContain('One-time code');
});

it('UX-283: a wrong code says only that; after five tries it says when the next is allowed', async () => {
  verifies('SV-07', 'UX-283');
  const { code } = server.keys.oneTimeCode();
  for (let i = 0; i < 5; i++) {
    const wrong = await signIn(i === 0 ? '' : `WRNG-000${i}`);
    expect(wrong.status).toBe(401);
    expect(wrong.body).toContain('<p class="notice" role="alert" id="fault">That code does not work.</p>');
    clock.advance(1000);
  }
  const blocked = await signIn(code);
  expect([blocked.status, blocked.headers['retry-after']]).toEqual([429, '55']);
  expect(blocked.body).toMatch(/Too many tries\. The next one is allowed in 55 seconds, at \d\d:\d\d:\d\d\./);
  // Waiting as told is enough, and a refused try did not lengthen the wait.
  clock.advance(54_000);
  expect((await signIn(code)).status).toBe(429);
  clock.advance(1_000);
  expect((await signIn(code)).status).toBe(303);
});

it('SV-07: the limit cannot be stepped around with other types, hosts or half-sent bodies', async () => {
  verifies('SV-07');
  for (let i = 0; i < 5; i++) {
    const body = JSON.stringify({ code: 'WRNG-0000' });
    const all = { host: `localhost:${server.port}`, 'content-type': 'application/json', 'content-length': String(body.length) };
    const reply = await raw(server.port, head('POST', '/login', all) + body);
    expect(JSON.parse(reply.body).error.code).toBe('unauthorized');
  }
  const late = await raw(
    server.port,
    head('POST', '/login', { host: server.host, 'content-type': 'application/json', 'content-length': '20' }),
  );
  expect([late.status, JSON.parse(late.body).error.sottoCode]).toEqual([429, 'TOO_MANY_REQUESTS']);
});

it('RB-10: the sign-in takes a code and nothing else', async () => {
  verifies('RB-10');
  const { code } = server.keys.oneTimeCode();
  const inAddress = await raw(
    server.port,
    head('POST', `/login?code=${code}`, {
      host: server.host,
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': '0',
      authorization: `Bearer ${server.secret}`,
    }),
  );
  expect(inAddress.status).toBe(401);
  expect((await signIn(server.secret)).status).toBe(401);
  expect((await signIn(code, { 'content-type': 'text/plain' })).status).toBe(415);
  expect(server.lines.join('\n')).not.toContain(code);
});
