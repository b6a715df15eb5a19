import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pageCookie } from '../../../src/runtime/http/login.ts';
import { createHttpServer } from '../../../src/runtime/http/server.ts';
import { verifies } from '../../helpers/verifies.ts';
import { createTestLog, head, raw, realClock, startTestServer, type TestServer } from './testServer.ts';

let pageDir: string;
let server: TestServer;

beforeAll(async () => {
  pageDir = mkdtempSync(join(tmpdir(), 'sotto-page-'));
  writeFileSync(join(pageDir, 'index.html'), '<!doctype html><title>Sotto</title>');
  mkdirSync(join(pageDir, 'assets'));
  writeFileSync(join(pageDir, 'assets', 'index-1.js'), 'export {};');
  server = await startTestServer({ pageDir });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(pageDir, { recursive: true });
});

const body = JSON.stringify({ json: { text: 'left a mark' } });
const upgradeHeaders = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Every way in, each well formed but for what a test changes. */
const routes = [
  { name: 'health', method: 'GET', path: '/health', public: true },
  { name: 'ready', method: 'GET', path: '/ready' },
  { name: 'page', method: 'GET', path: '/' },
  { name: 'sign-in page', method: 'GET', path: '/login' },
  { name: 'static file', method: 'GET', path: '/assets/index-1.js' },
  { name: 'socket', method: 'GET', path: '/rpc', headers: upgradeHeaders },
  { name: 'voice line', method: 'GET', path: '/api/voice/stream', headers: upgradeHeaders },
  { name: 'call', method: 'POST', path: '/rpc/echo', headers: { 'content-type': 'application/json' }, body },
  {
    name: 'sign-in',
    method: 'POST',
    path: '/login',
    headers: { 'content-type': 'application/json' },
    body: '{"code":"AAAA-AAAA"}',
    public: true,
  },
] as const;
type TestRoute = { method: string; path: string; headers?: Readonly<Record<string, string>>; body?: string };

function request(route: TestRoute, headers: Readonly<Record<string, string | undefined>>, target = route.path) {
  const length = route.body === undefined ? {} : { 'content-length': String(route.body.length) };
  return raw(server.port, head(route.method, target, { host: server.host, ...route.headers, ...length, ...headers }) + (route.body ?? ''));
}
const withKey = () => ({ authorization: `Bearer ${server.secret}` });

describe('Host', () => {
  const foreign = () => [
    'evil.test',
    `evil.test:${server.port}`,
    '127.0.0.1.evil.test',
    `127.0.0.1.evil.test:${server.port}`,
    'foo.local',
    `127.0.0.1:${server.port + 1}`,
    '127.0.0.1',
    `localhost.:${server.port}`,
    `0.0.0.0:${server.port}`,
    '',
  ];

  it.each(routes)('RB-08: $name is refused under every name that is not ours, before its body is read', async (route) => {
    verifies('RB-08');
    for (const host of foreign()) {
      // The body is promised and never sent: an answer proves that nobody waited for it.
      const promised = { ...route, body: '' };
      const reply = await request(promised, { ...withKey(), host, 'content-length': 'body' in route ? '1000' : undefined });
      expect([host, reply.status, JSON.parse(reply.body).error.sottoCode]).toEqual([host, 403, 'FORBIDDEN_HOST']);
    }
  });

  it.each(routes)('RB-08: $name without Host, with two, and with an absolute or strange address is malformed', async (route) => {
    verifies('RB-08');
    const two = head(route.method, route.path, { host: server.host, ...withKey() }).replace('\r\n\r\n', `\r\nHost: ${server.host}\r\n\r\n`);
    for (const text of [
      head(route.method, route.path, withKey()),
      two,
      head(route.method, `http://${server.host}${route.path}`, { host: server.host, ...withKey() }),
      head(route.method, `http://evil.test${route.path}`, { host: server.host, ...withKey() }),
      head(route.method, `/${route.path}`, { host: server.host, ...withKey() }),
    ])
      expect((await raw(server.port, text)).status).toBe(400);
  });

  it.each(routes)('RB-08: $name passes under our three names', async (route) => {
    verifies('RB-08');
    for (const name of ['127.0.0.1', '[::1]', 'localhost', 'LOCALHOST']) {
      const reply = await request(route, { ...withKey(), host: `${name}:${server.port}` });
      expect(reply.status).not.toBe(403);
      expect(reply.status).toBe(
        route.name === 'socket' || route.name === 'voice line'
          ? 101
          : route.name === 'sign-in page'
            ? 303
            : route.name === 'sign-in'
              ? reply.status
              : 200,
      );
    }
  });

  it('SV-09: an allowed host is served, with its own origin and no other', async () => {
    await using open = await startTestServer({ allowedHosts: ['sotto.example', 'other.example:8443'] });
    const ask = (host: string, origin?: string) => raw(open.port, head('GET', '/health', { host, origin }));
    expect((await ask('sotto.example', 'https://sotto.example')).status).toBe(200);
    expect((await ask(`sotto.example:${open.port}`)).status).toBe(200);
    expect((await ask('other.example:8443')).status).toBe(200);
    expect((await ask('other.example')).status).toBe(403);
    expect((await ask('sotto.example', 'https://evil.test')).status).toBe(403);
  });
});

describe('Origin', () => {
  const foreign = () => [
    'https://evil.test',
    `http://evil.test:${server.port}`,
    'null',
    'file://',
    'app://sotto',
    'chrome-extension://abcdefgh',
    `https://127.0.0.1:${server.port}`,
    `http://localhost:${server.port}`,
    `http://127.0.0.1:${server.port + 1}`,
    '',
  ];

  it.each(routes)('RB-09: $name from another origin is refused and does nothing', async (route) => {
    verifies('RB-09');
    const before = server.seen.length;
    for (const origin of foreign()) {
      const reply = await request(route, { ...withKey(), origin });
      expect([origin, reply.status, JSON.parse(reply.body).error.sottoCode]).toEqual([origin, 403, 'FORBIDDEN_ORIGIN']);
    }
    for (const [site, mode] of [
      ['cross-site', 'cors'],
      ['cross-site', 'navigate'],
      ['same-site', 'no-cors'],
    ] as const) {
      const reply = await request(route, { ...withKey(), 'sec-fetch-site': site, 'sec-fetch-mode': mode });
      expect(reply.status).toBe(403);
    }
    expect(server.seen.length).toBe(before);
  });

  it('RB-09: a simple post of a foreign page, with the cookie that a browser would add, leaves no mark', async () => {
    verifies('RB-09', 'SV-14');
    const { code } = server.keys.oneTimeCode();
    const page = server.keys.signIn(code, server.host);
    const cookie = pageCookie(server.host, page?.secret ?? '').split(';')[0] ?? '';
    const before = server.seen.length;
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const post = { method: 'POST', path: '/rpc/echo', headers: { 'content-type': type }, body };
      expect((await request(post, { cookie, origin: 'https://evil.test' })).status).toBe(403);
      expect((await request(post, { cookie })).status).toBe(415);
    }
    expect(server.seen.length).toBe(before);
    const own = { method: 'POST', path: '/rpc/echo', headers: { 'content-type': 'application/json' }, body };
    expect((await request(own, { cookie, origin: `http://${server.host}` })).status).toBe(200);
    expect(server.seen.length).toBe(before + 1);
  });
});

describe('credential', () => {
  const closed = routes.filter((route) => !('public' in route));

  it.each(closed)('RB-10: $name takes no missing, wrong, near, old or misplaced key', async (route) => {
    verifies('RB-10', 'SV-09', 'SV-13');
    const old = server.keys.create('old');
    server.keys.revoke(old.key.id);
    const near = `${server.secret.slice(0, -1)}${server.secret.endsWith('A') ? 'B' : 'A'}`;
    const { code } = server.keys.oneTimeCode();
    const page = server.keys.signIn(code, `localhost:${server.port}`);
    const before = server.seen.length;
    const replies = [];
    for (const headers of [
      {},
      { authorization: 'Bearer wrong' },
      { authorization: `Bearer ${near}` },
      { authorization: `Bearer ${old.secret}` },
      { authorization: `Bearer ${'x'.repeat(10_000)}` },
      { authorization: `Basic ${server.secret}` },
      { authorization: server.secret },
      // A key is no page and a page is no key; a page's cookie counts for its own host only.
      { cookie: `sotto_page_${server.port}=${server.secret}` },
      { authorization: `Bearer ${page?.secret}` },
      { cookie: `sotto_page_${server.port}=${page?.secret}` },
      { authorization: 'Bearer wrong', cookie: `sotto_page_${server.port}=${page?.secret}` },
    ])
      replies.push(await request(route, headers));
    replies.push(await request(route, {}, `${route.path}?token=${server.secret}&key=${server.secret}&access_token=${server.secret}`));
    for (const reply of replies) {
      expect(reply.status).toBe(401);
      expect(reply.headers['www-authenticate']).toBe('Bearer');
    }
    // One text for all of them: nothing can be probed.
    expect(new Set(replies.map((reply) => reply.body)).size).toBe(1);
    expect(server.seen.length).toBe(before);
    for (const secret of [server.secret, near, old.secret, page?.secret ?? 'none']) expect(server.lines.join('\n')).not.toContain(secret);
  });

  it('RB-10: a near miss costs the same comparisons as a far one', () => {
    verifies('RB-10', 'SV-10');
    const near = `${server.secret.slice(0, -1)}${server.secret.endsWith('A') ? 'B' : 'A'}`;
    const counted = (secret: string) => {
      const before = server.keys.comparisons();
      expect(server.keys.verify(secret, null)).toBe(null);
      return server.keys.comparisons() - before;
    };
    expect(counted(near)).toBe(counted('far'));
    expect(counted(near)).toBeGreaterThan(0);
  });

  it('SV-06: health is public and tells three things', async () => {
    verifies('SV-06');
    const reply = await raw(server.port, head('GET', '/health', { host: server.host }));
    expect(JSON.parse(reply.body)).toEqual({ status: 'ok', version: '9.9.9', instance: 'instance-1' });
    const ready = await request({ method: 'GET', path: '/ready' }, withKey());
    expect(ready.status).toBe(200);
    expect(JSON.parse(ready.body)).toMatchObject({
      store: { state: 'ok' },
      engines: [{ key: 'language' }],
      models: { language: { state: 'idle' } },
    });
  });

  it('what does not exist is 404, and a wrong method 405, without any credential', async () => {
    for (const path of [
      '/nothing',
      '/assets/',
      '/assets/index-2.js',
      '/assets/../index.html',
      '/%2e%2e/index.html',
      '/index.html',
      '/rpc/',
    ])
      expect([path, (await request({ method: 'GET', path }, {})).status]).toEqual([path, 404]);
    const wrong = await request({ method: 'POST', path: '/health' }, {});
    expect([wrong.status, wrong.headers.allow]).toEqual([405, 'GET']);
    expect((await request({ method: 'OPTIONS', path: '/rpc/echo' }, {})).status).toBe(405);
  });

  it('an upgrade anywhere but at the socket, and the socket without an upgrade, is refused', async () => {
    expect((await request({ method: 'GET', path: '/ready', headers: upgradeHeaders }, withKey())).status).toBe(400);
    for (const path of ['/rpc', '/api/voice/stream']) expect((await request({ method: 'GET', path }, withKey())).status).toBe(400);
  });

  it('without authentication the rest of the guard still stands', async () => {
    await using open = await startTestServer({ auth: false });
    const call = { host: open.host, 'content-type': 'application/json', 'content-length': String(body.length) };
    expect((await raw(open.port, head('POST', '/rpc/echo', call) + body)).status).toBe(200);
    expect((await raw(open.port, head('POST', '/rpc/echo', { ...call, origin: 'https://evil.test' }) + body)).status).toBe(403);
    expect((await raw(open.port, head('POST', '/rpc/echo', { ...call, host: 'evil.test' }) + body)).status).toBe(403);
  });
});

it('SV-02: until the runtime has recovered the port answers 503 and tells that it is starting', async () => {
  const { log } = createTestLog();
  const starting = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    allowedHosts: [],
    allowRemote: false,
    auth: true,
    version: '9.9.9',
    instance: 'instance-2',
    pageDir: null,
    clock: realClock,
    log,
  });
  const { port } = await starting.listen();
  const host = `127.0.0.1:${port}`;
  expect(JSON.parse((await raw(port, head('GET', '/health', { host }))).body).status).toBe('starting');
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/ready'],
    ['POST', '/login'],
    ['POST', '/rpc/echo'],
    ['GET', '/rpc'],
    ['GET', '/api/voice/stream'],
  ] as const) {
    const upgrade = path === '/rpc' || path === '/api/voice/stream';
    const reply = await raw(port, head(method, path, { host, ...(upgrade ? upgradeHeaders : {}) }));
    expect([path, reply.status, reply.headers['retry-after'], JSON.parse(reply.body).error.sottoCode]).toEqual([
      path,
      503,
      '1',
      'NOT_READY',
    ]);
  }
  expect((await raw(port, head('GET', '/', { host: 'evil.test' }))).status).toBe(403);
  await starting.close();
});

it('SV-12: only loopback is bound without more ado; a taken port has its own code', async () => {
  verifies('SV-12');
  const make = (host: string, more: { port?: number; allowRemote?: boolean; auth?: boolean } = {}) =>
    createHttpServer({
      host,
      port: 0,
      allowedHosts: [],
      allowRemote: false,
      auth: true,
      version: '',
      instance: '',
      pageDir: null,
      clock: realClock,
      log: createTestLog().log,
      ...more,
    });
  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.test', '127.0.0.1.evil.test', '127.1', ''])
    await expect(make(host).listen()).rejects.toMatchObject({ code: 'BIND_REFUSED' });
  for (const more of [{ auth: false }, { auth: false, allowRemote: true }])
    await expect(make('0.0.0.0', more).listen()).rejects.toMatchObject({ code: 'BIND_REFUSED' });
  const remote = make('0.0.0.0', { allowRemote: true });
  const { port } = await remote.listen();
  await expect(make('127.0.0.1', { port }).listen()).rejects.toMatchObject({ code: 'PORT_IN_USE', data: { port } });
  await remote.close();
  const open = make('127.0.0.1', { auth: false });
  await open.listen();
  await open.close();
});
