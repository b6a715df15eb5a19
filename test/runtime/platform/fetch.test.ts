import { once } from 'node:events';
import { createServer, request as plainRequest, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFetch } from '../../../src/runtime/platform/fetch.ts';
import type { Fetch, OutboundReason, OutboundRequest } from '../../../src/runtime/platform/ports.ts';
import { proxyFor } from '../../../src/runtime/platform/proxy.ts';
import { createLedger, type Ledger } from '../../../src/runtime/store/ledger.ts';
import { migration } from '../../../src/runtime/store/migrations/0002-models.ts';
import { createFakeClock, type FakeClock } from '../../helpers/fakeClock.ts';
import { faultServer } from '../../helpers/faultServer.ts';
import { noise } from '../../helpers/ggufBytes.ts';
import { verifies } from '../../helpers/verifies.ts';
import { silent, untilTrue } from '../models/harness.ts';

// Loopback and real files on a machine that may be busy: a wait is bounded by its state, not by the default of 5 s.
vi.setConfig({ testTimeout: 30_000 });

let db: Database.Database;
let clock: FakeClock;
let ledger: Ledger;
let fetch: Fetch;

beforeEach(() => {
  db = new Database(':memory:');
  migration.up(db);
  clock = createFakeClock();
  ledger = createLedger({ db, clock });
  fetch = createFetch({ ledger, clock, log: silent, env: {} });
});
afterEach(() => db.close());

function ask(url: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  const signal = new AbortController().signal;
  return { url, reason: 'model_download', asker: 'tiny-model', signal, connectTimeoutMs: 15_000, firstByteTimeoutMs: 30_000, ...more };
}

async function bodyOf(response: { body: AsyncIterable<Uint8Array> }): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const rows = () => ledger.list({ limit: 100 }).rows;

/** The guard of PV-04: every connection that a listener sees must have its own open row at that moment. */
function watchConnections(server: Awaited<ReturnType<typeof faultServer>>): { unledgered: () => number } {
  let seen = 0;
  let without = 0;
  server.onConnection = () => {
    seen += 1;
    const open = rows().filter((row) => row.port === server.port || row.port === server.portB).length;
    if (open < seen) without += 1;
  };
  return { unledgered: () => without };
}

describe('the one door (PV-03, PV-04, DL-25)', () => {
  it('the row is there before the connection arrives, and is completed after with bytes and result', async () => {
    verifies('PV-03', 'PV-04', 'DL-25');
    const body = noise(100_000, 1);
    await using server = await faultServer([{ path: '/secret/m.gguf', body }]);
    const guard = watchConnections(server);
    let atConnection: unknown = null;
    const counted = server.onConnection;
    server.onConnection = () => {
      counted?.();
      atConnection = rows();
    };
    const response = await fetch.open(ask(server.url('/secret/m.gguf?token=abc')));
    expect(await bodyOf(response)).toEqual(body);
    await untilTrue(
      () => rows()[0]?.result === 'ok',
      () => 'the end of the row',
    );
    expect(guard.unledgered()).toBe(0);
    expect(atConnection).toMatchObject([{ result: 'open', receivedBytes: null }]);
    const [row] = rows();
    expect(row).toMatchObject({
      reason: 'model_download',
      host: '127.0.0.1',
      port: server.port,
      asker: 'tiny-model',
      result: 'ok',
      note: null,
    });
    expect(row?.receivedBytes).toBeGreaterThan(100_000);
    expect(row?.sentBytes).toBeGreaterThan(50);
    // No path, query or body anywhere in it.
    expect(JSON.stringify(db.prepare('SELECT * FROM ledger').all())).not.toMatch(/secret|token|abc|gguf/);
  });

  it('a connection past the door is noticed by the same guard', async () => {
    await using server = await faultServer([{ path: '/m.gguf', body: 'x' }]);
    const guard = watchConnections(server);
    await new Promise((resolve) => plainRequest(server.url('/m.gguf'), (response) => response.resume().once('end', resolve)).end());
    expect(guard.unledgered()).toBe(1);
  });

  it('each reason finds its row', async () => {
    verifies('PV-04');
    await using server = await faultServer([{ path: '/m', body: 'x' }]);
    for (const reason of ['model_download', 'catalogue', 'package', 'update'] satisfies OutboundReason[]) {
      await bodyOf(await fetch.open(ask(server.url('/m'), { reason })));
      expect(rows()[0]).toMatchObject({ reason });
    }
  });

  it('a refused request has its row too, and no socket', async () => {
    verifies('PV-04');
    await using server = await faultServer([{ path: '/m', body: 'x' }]);
    const closed = createFetch({ ledger, clock, log: silent, env: {}, offline: () => true });
    await expect(closed.open(ask(server.url('/m')))).rejects.toMatchObject({ code: 'OFFLINE' });
    expect(rows()).toMatchObject([{ result: 'refused', note: 'offline switch' }]);
    expect(server.connections).toBe(0);
  });

  it('if the row cannot be written nothing leaves', async () => {
    await using server = await faultServer([{ path: '/m', body: 'x' }]);
    db.exec('DROP TABLE ledger');
    await expect(fetch.open(ask(server.url('/m')))).rejects.toThrow(/ledger/);
    expect(server.connections).toBe(0);
  });

  it('rows are kept 90 days', () => {
    verifies('PV-04');
    const day = 24 * 60 * 60_000;
    const entry = { reason: 'update', host: 'h', port: 443, asker: 'x' } as const;
    ledger.open(entry);
    clock.advance(89 * day);
    ledger.open(entry);
    expect(rows()).toHaveLength(2);
    clock.advance(2 * day);
    ledger.open(entry);
    expect(rows()).toHaveLength(2);
  });

  it('pages from the newest back without a gap', () => {
    for (let i = 0; i < 25; i++) ledger.open({ reason: 'update', host: `h${i}`, port: 443, asker: 'x' });
    const first = ledger.list({ limit: 10 });
    const second = ledger.list({ limit: 10, before: first.nextBefore ?? 0 });
    const third = ledger.list({ limit: 10, before: second.nextBefore ?? 0 });
    expect([...first.rows, ...second.rows, ...third.rows].map((row) => row.host)).toEqual(
      Array.from({ length: 25 }, (_, i) => `h${24 - i}`),
    );
    expect(third.nextBefore).toBeNull();
  });
});

describe('one hop', () => {
  it('asks for identity, sends the given headers, gives lower-case headers and follows no redirect', async () => {
    await using server = await faultServer([{ path: '/m', redirect: '/n', headers: { 'X-Linked-ETag': '"a"' } }]);
    const response = await fetch.open(ask(server.url('/m'), { headers: { range: 'bytes=5-' } }));
    expect(response).toMatchObject({ status: 302, headers: { location: '/n', 'x-linked-etag': '"a"' }, host: `127.0.0.1:${server.port}` });
    expect(server.requests[0]?.headers).toMatchObject({ 'accept-encoding': 'identity', 'user-agent': 'sotto', range: 'bytes=5-' });
    await bodyOf(response);
    expect(server.requests).toHaveLength(1);
  });

  it('closing the body unread closes the connection and the row', async () => {
    await using server = await faultServer([{ path: '/m', body: noise(5_000_000, 1), stallAt: 4_000_000 }]);
    const response = await fetch.open(ask(server.url('/m')));
    await response.body[Symbol.asyncIterator]().return?.(undefined);
    await untilTrue(
      () => rows()[0]?.result === 'failed',
      () => 'the end of the row',
    );
  });

  it('refuses every scheme but http and https before a row is written', async () => {
    for (const url of ['file:///etc/hostname', 'ftp://h/x', 'nonsense']) {
      await expect(fetch.open(ask(url))).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    }
    expect(rows()).toEqual([]);
  });
});

describe('typed failures', () => {
  it('nobody listens: NO_NETWORK, and the row says failed', async () => {
    const server = await faultServer([]);
    const url = server.url('/m');
    await server[Symbol.asyncDispose]();
    await expect(fetch.open(ask(url))).rejects.toMatchObject({ code: 'NO_NETWORK' });
    expect(rows()).toMatchObject([{ result: 'failed' }]);
  });

  it('a server that takes the connection and says nothing: DOWNLOAD_STALLED at the first-byte deadline', async () => {
    const mute = createTcpServer(() => {});
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    try {
      const opening = fetch.open(ask(`http://127.0.0.1:${(mute.address() as AddressInfo).port}/m`));
      const failed = expect(opening).rejects.toMatchObject({ code: 'DOWNLOAD_STALLED' });
      await untilTrue(
        () => clock.pending === 1,
        () => 'a timer',
      );
      await new Promise((resolve) => setTimeout(resolve, 50));
      await clock.advanceAsync(30_000);
      await failed;
    } finally {
      mute.close();
    }
  });

  it('a connection that never comes up (no TLS on the other side): NO_NETWORK at the connect deadline', async () => {
    const mute = createTcpServer(() => {});
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    try {
      const opening = fetch.open(ask(`https://127.0.0.1:${(mute.address() as AddressInfo).port}/m`));
      const failed = expect(opening).rejects.toMatchObject({ code: 'NO_NETWORK' });
      await clock.advanceAsync(15_000);
      await failed;
      expect(rows()).toMatchObject([{ result: 'failed' }]);
    } finally {
      mute.close();
    }
  });

  it('cancel: before, while waiting, and in the body', async () => {
    await using server = await faultServer([{ path: '/m', body: noise(500_000, 1), stallAt: 400_000 }]);
    await expect(fetch.open(ask(server.url('/m'), { signal: AbortSignal.abort() }))).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(rows()).toEqual([]);
    const waiting = new AbortController();
    const opening = fetch.open(ask(server.url('/m'), { signal: waiting.signal }));
    waiting.abort();
    await expect(opening).rejects.toMatchObject({ code: 'CANCELLED' });
    const reading = new AbortController();
    const response = await fetch.open(ask(server.url('/m'), { signal: reading.signal }));
    setTimeout(() => reading.abort(), 20);
    await expect(bodyOf(response)).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(rows().map((row) => row.result)).toEqual(['failed', 'failed']);
  });

  it('a reset in the body and a body shorter than stated: NO_NETWORK, never a quiet end', async () => {
    await using server = await faultServer([
      { path: '/reset', body: noise(500_000, 1), resetAt: 100_000 },
      { path: '/short', body: noise(1000, 1), length: 2000 },
    ]);
    for (const path of ['/reset', '/short']) {
      const response = await fetch.open(ask(server.url(path)));
      const reading = expect(bodyOf(response)).rejects.toMatchObject({ code: 'NO_NETWORK' });
      if (path === '/short') setTimeout(() => void server[Symbol.asyncDispose](), 50);
      await reading;
    }
  });
});

describe('proxy variables', () => {
  const to = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env);

  it('are honoured only in their simple form; loopback and NO_PROXY go straight', () => {
    expect(to('https://hub.example/m', {})).toEqual({ kind: 'direct' });
    expect(to('https://hub.example/m', { https_proxy: 'http://p.example:3128' })).toMatchObject({ kind: 'proxy' });
    expect(to('https://hub.example/m', { HTTPS_PROXY: 'p.example:3128' })).toMatchObject({ kind: 'proxy' });
    expect(to('http://hub.example/m', { HTTPS_PROXY: 'http://p.example' })).toEqual({ kind: 'direct' });
    expect(to('https://hub.example/m', { HTTPS_PROXY: 'socks5://p.example' })).toEqual({ kind: 'unsupported' });
    for (const list of ['*', 'example', '.example', 'other, hub.example', 'hub.example:443', '*.example']) {
      expect(to('https://hub.example/m', { HTTPS_PROXY: 'http://p', NO_PROXY: list }), list).toEqual({ kind: 'direct' });
    }
    for (const list of ['ample', 'hub.example:80', 'b.example']) {
      expect(to('https://hub.example/m', { HTTPS_PROXY: 'http://p', NO_PROXY: list }), list).toMatchObject({ kind: 'proxy' });
    }
    expect(to('http://127.0.0.1:8080/m', { HTTP_PROXY: 'http://p' })).toEqual({ kind: 'direct' });
  });

  it('a proxy of a kind we do not speak is never gone around', async () => {
    const proxied = createFetch({ ledger, clock, log: silent, env: { HTTP_PROXY: 'socks5://127.0.0.1:1' } });
    await expect(proxied.open(ask('http://hub.example/m'))).rejects.toMatchObject({ code: 'NO_NETWORK' });
    expect(rows()).toMatchObject([{ result: 'refused', host: 'hub.example' }]);
  });

  it('http goes through it in whole-address form, with its login; https by CONNECT, which never shows the path', async () => {
    const seen: { method: string; url: string; auth: string | undefined }[] = [];
    const proxy: Server = createServer((request, response) => {
      seen.push({ method: request.method ?? '', url: request.url ?? '', auth: request.headers['proxy-authorization'] });
      response.end('by proxy');
    });
    proxy.on('connect', (request, socket) => {
      seen.push({ method: 'CONNECT', url: request.url ?? '', auth: request.headers['proxy-authorization'] });
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const address = `http://me:se%40cret@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    try {
      const proxied = createFetch({ ledger, clock, log: silent, env: { HTTP_PROXY: address, HTTPS_PROXY: address } });
      const response = await proxied.open(ask('http://hub.example/path?q=1'));
      expect((await bodyOf(response)).toString()).toBe('by proxy');
      await expect(proxied.open(ask('https://hub.example/path?q=1'))).rejects.toMatchObject({ code: 'NO_NETWORK' });
      const auth = `Basic ${Buffer.from('me:se@cret').toString('base64')}`;
      expect(seen).toEqual([
        { method: 'GET', url: 'http://hub.example/path?q=1', auth },
        { method: 'CONNECT', url: 'hub.example:443', auth },
      ]);
      expect(rows().map((row) => row.host)).toEqual(['hub.example', 'hub.example']);
      expect(JSON.stringify(rows())).not.toContain('se@cret');
      expect(JSON.stringify(rows())).not.toContain('se%40cret');
    } finally {
      proxy.close();
    }
  });
});
