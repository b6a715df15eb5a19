import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifies } from '../../helpers/verifies.ts';
import { head, raw, startTestServer, type TestServer } from './testServer.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ limits: { bodyIdleMs: 150, headerMs: 300, checkMs: 100 } });
});
afterAll(() => server[Symbol.asyncDispose]());

async function fault(reply: Response): Promise<unknown[]> {
  const body: unknown = await reply.json();
  // A call's own faults come in the form of the typed client, those of the guard in the simple one.
  const { json, error } = Object(body);
  return [reply.status, (error?.details ?? json?.data)?.field, (error?.details ?? json?.data)?.reason];
}

it('SV-17: numbers, kinds and depth that no call wants are a typed 400', async () => {
  verifies('SV-17');
  const before = server.seen.length;
  const deep = `${'['.repeat(66)}${']'.repeat(66)}`;
  const veryDeep = `${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}`;
  const cases: [string, unknown[]][] = [
    ['{"json":{"text":"a","count":1e999}}', [400, 'json.count', 'not_finite']],
    ['{"json":{"text":"a","count":-1e999}}', [400, 'json.count', 'not_finite']],
    ['{"json":{"text":"a","count":null},"meta":[[2,"count"]]}', [400, 'count', 'not_finite']],
    ['{"json":{"text":"a","count":NaN}}', [400, 'body', 'not_json']],
    ['{"json":{"text":"a","count":"1"}}', [400, 'count', 'type']],
    ['{"json":{"text":"a","count":-1}}', [400, 'count', 'range']],
    ['{"json":{"text":"a","count":1e300}}', [400, 'count', expect.any(String)]],
    ['{"json":{}}', [400, 'text', 'missing']],
    ['{"json":{"text":"a","more":1}}', [400, 'more', 'unknown']],
    ['{"json":{"text":"a","__proto__":{"count":1}}}', [400, '__proto__', 'unknown']],
    ['{"json":{"text":1}}', [400, 'text', 'type']],
    [`{"json":{"text":${deep}}}`, [400, 'body', 'depth']],
    [veryDeep, [400, 'body', 'depth']],
    ['', [400, 'body', 'not_json']],
    ['{"json":{"text":"a"', [400, 'body', 'not_json']],
    ['\u0000', [400, 'body', 'not_json']],
    ['[]', [400, expect.any(String), expect.any(String)]],
    ['null', [400, expect.any(String), expect.any(String)]],
    ['{"json":{"text":"a"},"meta":[[7,"text"]]}', [400, 'body', 'type']],
    ['{"json":{"text":"a"},"meta":[[0,"__proto__","toString"]]}', [400, 'body', 'type']],
    ['{"json":{"text":"a"},"meta":7}', [400, 'body', 'type']],
  ];
  for (const [body, wanted] of cases)
    expect([body.slice(0, 60), ...(await fault(await server.call('/rpc/echo', body)))]).toEqual([body.slice(0, 60), ...wanted]);
  expect(server.seen.length).toBe(before);
  expect((await server.call('/rpc/echo', { json: { text: 'still here' } })).status).toBe(200);
});

it('SV-14: a body of another type or encoding is 415 and does nothing', async () => {
  verifies('SV-14');
  const before = server.seen.length;
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'text/json', 'application/jsonx', ''])
    expect((await server.call('/rpc/echo', { json: { text: 'no' } }, { 'content-type': type })).status).toBe(415);
  expect((await server.call('/rpc/echo', { json: { text: 'no' } }, { 'content-encoding': 'gzip' })).status).toBe(415);
  expect(server.seen.length).toBe(before);
  expect((await server.call('/rpc/echo', { json: { text: 'yes' } }, { 'content-type': 'Application/JSON; charset=utf-8' })).status).toBe(
    200,
  );
});

const post = (more: Record<string, string>) =>
  head('POST', '/rpc/echo', { host: server.host, authorization: `Bearer ${server.secret}`, 'content-type': 'application/json', ...more });

it('a body over 2 MiB is 413: a stated one before it is read, an unstated one as soon as it is too long', async () => {
  const stated = await raw(server.port, post({ 'content-length': String(2 * 1024 * 1024 + 1) }));
  expect([stated.status, JSON.parse(stated.body).error.details]).toEqual([413, { maxBytes: 2 * 1024 * 1024 }]);
  const huge = await raw(server.port, post({ 'content-length': '9007199254740993' }));
  expect(huge.status).toBe(413);
  const chunk = `80000\r\n${'x'.repeat(0x80000)}\r\n`;
  expect((await raw(server.port, post({ 'transfer-encoding': 'chunked' }) + chunk.repeat(5))).status).toBe(413);
  const largest = await server.call('/rpc/echo', { json: { text: '\ud800é'.repeat(170_000) } });
  expect(largest.status).toBe(200);
});

it('a body where none belongs, and lengths that contradict, are refused', async () => {
  const auth = { host: server.host, authorization: `Bearer ${server.secret}` };
  expect((await raw(server.port, `${head('GET', '/ready', { ...auth, 'content-length': '3' })}abc`)).status).toBe(413);
  expect((await raw(server.port, `${post({ 'content-length': '2', 'transfer-encoding': 'chunked' })}0\r\n\r\n`)).status).toBe(400);
  expect((await raw(server.port, `${post({ 'content-length': '-1' })}{}`)).status).toBe(400);
  expect(
    (await raw(server.port, `${post({ 'content-length': '2' }).replace('\r\n\r\n', '\r\ncontent-length: 3\r\n\r\n')}{}x`)).status,
  ).toBe(400);
});

it.each([
  ['no HTTP at all', () => '\u0016\u0003\u0001\u0002\u0000hello\r\n\r\n', 400],
  ['a request line without version', () => 'GET /health\r\n\r\n', 400],
  ['a header without colon', () => `GET /health HTTP/1.1\r\nHost: ${server.host}\r\nnonsense\r\n\r\n`, 400],
  ['a control byte in a header', () => `GET /health HTTP/1.1\r\nHost: ${server.host}\r\nx: a\u0000b\r\n\r\n`, 400],
  ['a space before the colon', () => `GET /health HTTP/1.1\r\nHost : ${server.host}\r\n\r\n`, 400],
  ['a folded header', () => `GET /health HTTP/1.1\r\nHost: ${server.host}\r\nx: a\r\n b\r\n\r\n`, 400],
  ['a tunnel', () => `CONNECT evil.test:443 HTTP/1.1\r\nHost: ${server.host}\r\n\r\n`, 400],
  ['asterisk form', () => `OPTIONS * HTTP/1.1\r\nHost: ${server.host}\r\n\r\n`, 400],
  ['headers over 16 KiB', () => head('GET', '/health', { host: server.host, x: 'x'.repeat(17 * 1024) }), 431],
  ['an address line over 8 KiB', () => head('GET', `/health?${'x'.repeat(9 * 1024)}`, { host: server.host }), 431],
  ['an unknown expectation', () => head('GET', '/health', { host: server.host, expect: 'magic' }), 417],
])('%s gets an answer and costs nothing', async (_name, text, status) => {
  const reply = await raw(server.port, text());
  expect(reply.status).toBe(status);
  expect(JSON.parse(reply.body).error.sottoCode).toBe('INVALID_INPUT');
  expect((await server.call('/rpc/echo', { json: { text: 'still here' } })).status).toBe(200);
});

it('a sender that stalls in its head or in its body is cut with 408', async () => {
  const body = await raw(server.port, `${post({ 'content-length': '100' })}{"json":`);
  expect([body.status, JSON.parse(body.body).error.sottoCode]).toEqual([408, 'REQUEST_TIMEOUT']);
  const slowHead = await raw(server.port, `GET /health HTTP/1.1\r\nHost: ${server.host}\r\nx: `);
  expect([slowHead.status, JSON.parse(slowHead.body).error.sottoCode]).toEqual([408, 'REQUEST_TIMEOUT']);
});

it('a client that asks before it sends is refused without sending, or told to go on', async () => {
  const refused = await raw(server.port, head('POST', '/rpc/echo', { host: 'evil.test', expect: '100-continue', 'content-length': '10' }));
  expect(refused.status).toBe(403);
  const body = '{"json":{"text":"asked first"}}';
  const answer = await new Promise<string>((resolve, reject) => {
    let text = '';
    const socket = connect({ host: '127.0.0.1', port: server.port });
    socket.setEncoding('latin1').on('error', reject);
    socket.on('data', (piece) => {
      text += piece;
      if (text === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write(body);
      if (text.includes('asked first')) resolve(text);
    });
    socket.write(post({ expect: '100-continue', 'content-length': String(body.length) }));
  });
  expect(answer).toContain('200 OK');
});

it('errors tell no path, text or secret, and unexpected ones a number', async () => {
  verifies('PV-14');
  const reply = await server.call('/rpc/broken', { json: {} });
  const text = await reply.text();
  expect(reply.status).toBe(500);
  expect(text).toMatch(/"code":"INTERNAL"/);
  expect(text).toMatch(/"incident":"[0-9A-F]{8}"/);
  expect(text).not.toMatch(/someone|secret\.txt|Error:/);
  const planted = 'PLANTED-7c1f';
  await server.call('/rpc/echo', { json: { text: planted } });
  await server.call(`/rpc/echo?${planted}`, { json: { text: planted, more: planted } });
  await server.call(`/rpc/${planted}`, { json: {} });
  await raw(server.port, head('GET', `/${planted}`, { host: server.host, cookie: planted, authorization: planted, 'user-agent': planted }));
  expect(server.lines.join('\n')).not.toContain(planted);
  expect(server.lines.length).toBeGreaterThan(0);
});

it('an unknown procedure is a typed 404, whatever its name', async () => {
  for (const name of ['nothing', 'echo/more', '__proto__', 'constructor', 'toString', '%2f%2e%2e', `${'x'.repeat(4000)}`]) {
    const reply = await server.call(`/rpc/${name}`, { json: {} });
    const body: unknown = await reply.json();
    expect([name.slice(0, 20), reply.status, Object(body).json?.code]).toEqual([name.slice(0, 20), 404, 'UNKNOWN_PROCEDURE']);
  }
});
