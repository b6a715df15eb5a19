import { createORPCClient, type ORPCError } from '@orpc/client';
import type { RouterClient } from '@orpc/server';
import { afterEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { linkOf } from '../../../src/runtime/http/client.ts';
import type { HttpServerOptions } from '../../../src/runtime/http/server.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';
import { verifies } from '../../helpers/verifies.ts';
import { type createTestRouter, realClock, startTestServer, type TestServer } from './testServer.ts';

const disposals: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const dispose of disposals.splice(0).reverse()) await dispose();
});

async function serve(options: Partial<HttpServerOptions> = {}): Promise<TestServer> {
  const server = await startTestServer(options);
  disposals.push(() => server[Symbol.asyncDispose]());
  return server;
}

/** An open socket with the key, a typed client on it, and how it ends. */
async function open(server: TestServer, headers: Record<string, string> = { authorization: `Bearer ${server.secret}` }) {
  const socket = new WebSocket(`ws://${server.host}/rpc`, { headers });
  disposals.push(() => socket.terminate());
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const client: RouterClient<ReturnType<typeof createTestRouter>['router']> = createORPCClient(linkOf(socket));
  return { socket, closed, client };
}

/** The next text that comes on the socket. */
const nextText = (socket: WebSocket) => new Promise<string>((resolve) => socket.once('message', (data) => resolve(data.toString())));
const codeOf = (error: ORPCError<string, unknown>) => error.code;
/** Waits for a state of the server that nothing announces. */
async function until(check: () => boolean): Promise<void> {
  while (!check()) await new Promise((resolve) => setTimeout(resolve, 5));
}

it('calls and streams work over one socket, and closing it ends its streams', async () => {
  const server = await serve();
  const { client, socket } = await open(server);
  expect(await client.echo({ text: 'hello' })).toEqual({ text: 'hello' });
  const ticks = await client.ticks({});
  expect(await ticks.next()).toEqual({ done: false, value: { n: 1 } });
  expect(server.streams.open).toBe(1);
  socket.close();
  await until(() => server.streams.open === 0);
});

it('SV-10: revoking a key closes its sockets and streams, and no others', async () => {
  verifies('SV-10');
  const server = await serve();
  const doomed = server.keys.create('doomed');
  const kept = await open(server);
  const cut = await open(server, { authorization: `Bearer ${doomed.secret}` });
  const ticks = await cut.client.ticks({});
  await ticks.next();
  const overHttp = await fetch(`${server.url}rpc/ticks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${doomed.secret}`, 'content-type': 'application/json' },
    body: '{"json":{}}',
  });
  const reader = overHttp.body?.getReader();
  await reader?.read();
  const streamEnd = reader?.closed.catch(() => 'cut');
  server.keys.revoke(doomed.key.id);
  expect(await cut.closed).toEqual({ code: 4401, reason: 'signed out' });
  await expect(ticks.next()).rejects.toThrow();
  await reader?.read().catch(() => {});
  expect(await streamEnd).toBe('cut');
  await until(() => server.streams.open === 0);
  expect(await kept.client.echo({ text: 'still in' })).toEqual({ text: 'still in' });
});

it('SV-10: a revoked page that does not answer the close is cut', async () => {
  verifies('SV-10');
  const clock = createFakeClock();
  const server = await serve({ clock });
  disposals.push(() => void clock.advanceAsync(10_000));
  const { code } = server.keys.oneTimeCode();
  const page = server.keys.signIn(code, server.host);
  const { socket, closed } = await open(server, { cookie: `sotto_page_${server.port}=${page?.secret}`, origin: `http://${server.host}` });
  // Reads nothing more, so the close frame is never answered.
  socket.pause();
  if (page !== null) server.keys.revoke(page.key.id);
  await clock.advanceAsync(1000);
  socket.resume();
  expect((await closed).code).toBe(4401);
  expect(socket.readyState).toBe(WebSocket.CLOSED);
});

it('SV-07: a page whose 12 h are over is signed out; one that is used stays', async () => {
  verifies('SV-07');
  const clock = createFakeClock();
  const server = await serve({ clock, limits: { heartbeatMs: 3_600_000 } });
  disposals.push(() => void clock.advanceAsync(10_000));
  const page = server.keys.signIn(server.keys.oneTimeCode().code, server.host);
  const { client, closed, socket } = await open(server, { cookie: `sotto_page_${server.port}=${page?.secret}` });
  const beats = { count: 0 };
  socket.on('ping', () => beats.count++);
  const hours = async (n: number) => {
    for (let i = 0; i < n; i++) {
      const seen = beats.count;
      clock.advance(3_600_000);
      await until(() => beats.count > seen || socket.readyState !== WebSocket.OPEN);
      // The pong must be back before the next beat.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  await hours(11);
  expect(await client.echo({ text: 'used' })).toEqual({ text: 'used' });
  await hours(11);
  expect(socket.readyState).toBe(WebSocket.OPEN);
  await hours(2);
  expect(await closed).toEqual({ code: 4401, reason: 'signed out' });
});

it('a reader that went away without a word is noticed', async () => {
  const clock = createFakeClock();
  const server = await serve({ clock });
  disposals.push(() => void clock.advanceAsync(10_000));
  const { socket, client } = await open(server);
  const ticks = await client.ticks({});
  await ticks.next();
  socket.pause();
  await clock.advanceAsync(15_000);
  expect(server.streams.open).toBe(1);
  await clock.advanceAsync(15_000);
  await until(() => server.streams.open === 0);
  await ticks.return?.().catch(() => {});
});

it('SV-17: frames that are no calls, and calls that no schema wants, are answered or refused and never end the server', async () => {
  verifies('SV-17');
  const server = await serve();
  const { socket, client } = await open(server);
  const frames: [string, string | null][] = [
    ['{"i":"1","p":{"u":"/echo","b":{"json":{"text":"a","count":1e999}}}}', 'not_finite'],
    ['{"i":"2","p":{"u":"/echo","b":{"json":{"text":"a","count":"1"}}}}', 'type'],
    [`{"i":"3","p":{"u":"/echo","b":{"json":${'['.repeat(100)}${']'.repeat(100)}}}}`, 'depth'],
    [`{"i":"4","p":{"u":"/echo","b":{"json":${'['.repeat(200_000)}${']'.repeat(200_000)}}}}`, 'depth'],
    ['{"i":"5","p":{"u":"//evil.test/echo","b":{"json":{}}}}', null],
    ['{"i":"6","p":{"u":"/echo","m":"GET","b":{"json":{}}}}', null],
    ['{"i":"7","p":{"u":"/echo","h":{"content-type":"multipart/form-data"},"b":{"json":{}}}}', null],
    ['{"i":"8","p":7}', null],
    ['{"i":"9","p":{"u":"/echo","b":{"json":{"text":"a"},"meta":[[7,"text"]]}}}', null],
    ['{"i":"10","p":{"u":"/nothing","b":{"json":{}}}}', null],
  ];
  for (const [frame, reason] of frames) {
    const answer = nextText(socket);
    socket.send(frame);
    const { i, p } = JSON.parse(await answer);
    expect([i, frame]).toEqual([JSON.parse(frame.length < 1000 ? frame : '{"i":"4"}').i ?? i, frame]);
    expect(p.s).toBeGreaterThanOrEqual(400);
    expect(p.s).toBeLessThan(500);
    if (reason !== null) expect(p.b.json.data.reason).toBe(reason);
  }
  for (const noFrame of ['', 'hello', '{', 'null', '[]', '{"i":1}', '{"t":9}']) socket.send(noFrame);
  expect(await client.echo({ text: 'still here' })).toEqual({ text: 'still here' });
  expect(server.lines.join('\n')).not.toContain('hello');
});

it('a frame over the limit and a binary frame end their socket and nothing else', async () => {
  const server = await serve({ limits: { frameBytes: 64 * 1024 } });
  const large = await open(server);
  large.socket.send('x'.repeat(64 * 1024 + 1));
  expect((await large.closed).code).toBe(1009);
  const binary = await open(server);
  binary.socket.send(new Uint8Array([1, 2, 3]));
  expect((await binary.closed).code).toBe(1003);
  expect(await (await open(server)).client.echo({ text: 'here' })).toEqual({ text: 'here' });
});

it('streams and calls over their caps are 429, and room that came back is used', async () => {
  const server = await serve({ limits: { streams: 3, streamsPerKey: 2, requestsAtWork: 2 } });
  const other = server.keys.create('other');
  const a = await open(server);
  const b = await open(server, { authorization: `Bearer ${other.secret}` });
  const first = await a.client.ticks({});
  await a.client.ticks({});
  expect(await a.client.ticks({}).catch(codeOf)).toBe('TOO_MANY_REQUESTS');
  await b.client.ticks({});
  expect(await b.client.ticks({}).catch(codeOf)).toBe('TOO_MANY_REQUESTS');
  await first.return?.();
  await until(() => server.streams.open < 3);
  await b.client.ticks({});
  const held = [a.client.hold({}), b.client.hold({})];
  await until(() => server.seen.filter((mark) => mark === 'hold').length === 2);
  expect(await a.client.echo({ text: 'no room' }).catch(codeOf)).toBe('TOO_MANY_REQUESTS');
  const overHttp = await server.call('/rpc/echo', { json: { text: 'no room' } });
  expect([overHttp.status, overHttp.headers.get('retry-after')]).toEqual([429, '1']);
  server.held.resolve();
  expect(await Promise.all(held)).toEqual([{ held: true }, { held: true }]);
  expect(await a.client.echo({ text: 'room' })).toEqual({ text: 'room' });
});

it('a reader that stops reading makes its stream wait instead of filling memory', async () => {
  const server = await serve();
  const { socket, client } = await open(server);
  const flood = await client.flood({});
  await flood.next();
  socket.pause();
  const seen = { n: -1 };
  // 2,000 pieces of 64 KiB would be 125 MiB; the stream must come to rest long before.
  while (seen.n !== server.streams.open) {
    seen.n = server.streams.open;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(server.streams.open).toBeLessThan(500);
  socket.resume();
  await until(() => server.streams.open === 2000);
});

it('SV-04: stopping refuses new calls, lets running ones end, and closes sockets with the reason', async () => {
  const server = await startTestServer();
  const { client, closed } = await open(server);
  const held = client.hold({});
  await until(() => server.seen.includes('hold'));
  const stopped = server.server.close();
  expect(await client.echo({ text: 'late' }).catch(codeOf)).toBe('SHUTTING_DOWN');
  await expect(fetch(`${server.url}health`)).rejects.toThrow();
  server.held.resolve();
  expect(await held).toEqual({ held: true });
  expect(await closed).toEqual({ code: 1001, reason: 'shutdown' });
  await stopped;
});

it('SV-04: a call that does not end is given five seconds', async () => {
  const clock = createFakeClock();
  const server = await startTestServer({ clock });
  const { client, closed } = await open(server);
  const held = client.hold({}).catch(() => 'cut');
  await until(() => server.seen.includes('hold'));
  const ended = { yes: false };
  const stopped = server.server.close().then(() => {
    ended.yes = true;
  });
  await clock.advanceAsync(4_900);
  expect(ended.yes).toBe(false);
  await clock.advanceAsync(200);
  expect((await closed).code).toBe(1001);
  while (!ended.yes) await clock.advanceAsync(100);
  await stopped;
  expect(await held).toBe('cut');
});

it('a thousand connections are not held at once', async () => {
  const server = await serve({ limits: { connections: 4 }, clock: realClock });
  const sockets = await Promise.all(Array.from({ length: 4 }, () => open(server)));
  await expect(open(server)).rejects.toThrow();
  expect(await sockets[0]?.client.echo({ text: 'in' })).toEqual({ text: 'in' });
});
