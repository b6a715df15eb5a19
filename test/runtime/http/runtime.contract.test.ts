import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/fetch';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { connectToServer, linkOf, type RuntimeClient } from '../../../src/runtime/http/client.ts';
import { createHttpServer, type HttpServer } from '../../../src/runtime/http/server.ts';
import { appErrors } from '../../../src/shared/contract/clientErrors.ts';
import { SessionId, TurnId } from '../../../src/shared/domain/ids.ts';
import { createTestRuntime, type TestRuntime } from '../../helpers/testRuntime.ts';
import { createTestLog, realClock } from './testServer.ts';

// The real router behind the real server, reached as programs reach it.
let runtime: TestRuntime;
let server: HttpServer;
let url: string;
let secret: string;

beforeAll(async () => {
  runtime = await createTestRuntime();
  server = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    allowedHosts: [],
    allowRemote: false,
    auth: true,
    version: '1',
    instance: 'i',
    pageDir: null,
    clock: realClock,
    log: createTestLog().log,
  });
  ({ url } = await server.listen());
  const { router, refusals, services } = runtime.runtime;
  const readiness = () => ({
    ready: true,
    store: services.store.state.get(),
    engines: [],
    models: { language: { state: 'idle', modelId: null } },
  });
  await server.open({ router, serveVoice: (line) => services.voice.connect(line), refusals, keys: services.keys, readiness });
  ({ secret } = services.keys.create('test'));
});
afterAll(async () => {
  await server.close();
  await runtime[Symbol.asyncDispose]();
});

function overHttp(): { client: RuntimeClient; close(): void } {
  const link = new RPCLink({ url: new URL('/rpc', url), headers: { authorization: `Bearer ${secret}` }, interceptors: [appErrors] });
  return { client: createORPCClient(link), close: () => {} };
}

const ways = [
  ['HTTP', async () => overHttp()],
  ['WebSocket', () => connectToServer(url, secret)],
] as const;

it.each(ways)('over %s a question is asked, its answer streams, and its end is seen', async (_name, open) => {
  const { client, close } = await open();
  runtime.model.play([{ say: 'Forty-two.' }]);
  const { session } = await client.sessions.start({ origin: 'http' });
  const abort = new AbortController();
  const items = await client.events.watch({ sessionId: session.id, after: 0 }, { signal: abort.signal });
  await client.turns.send({ sessionId: session.id, content: 'What is it?' });
  const types: string[] = [];
  let text = '';
  for await (const item of items) {
    if (item.kind === 'ephemeral' && item.event.type === 'output.message.delta') text += item.event.delta;
    if (item.kind === 'durable') types.push(item.event.type);
    if (types.at(-1) === 'turn.completed') break;
  }
  abort.abort();
  expect(text).toBe('Forty-two.');
  expect(types).toContain('output.message.completed');
  close();
});

it.each(ways)('over %s a failure is the typed one', async (_name, open) => {
  const { client, close } = await open();
  const failure = await client.sessions.get({ sessionId: SessionId.parse('missing') }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: 'AppError', code: 'SESSION_NOT_FOUND' });
  const { session } = await client.sessions.start({});
  for (const content of ['', []])
    await expect(client.turns.send({ sessionId: session.id, content })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  await expect(client.turns.get({ sessionId: session.id, turnId: TurnId.parse(`turn_${'0'.repeat(32)}`) })).rejects.toMatchObject({
    code: 'TURN_NOT_FOUND',
  });
  close();
});

it.each(ways)('over %s a 1 MB paste arrives whole, lone surrogates and all, and far more is refused without harm', async (name, open) => {
  const { client, close } = await open();
  const { session } = await client.sessions.start({});
  const paste = 'wörd\ud800 '.repeat(100_000);
  await client.sessions.setDraft({ sessionId: session.id, text: paste.slice(0, 200_000) });
  const { text } = await client.sessions.getDraft({ sessionId: session.id });
  expect(text.length).toBe(200_000);
  const huge = client.sessions.setDraft({ sessionId: session.id, text: 'x'.repeat(6 * 1024 * 1024) });
  await expect(huge).rejects.toMatchObject({ code: name === 'HTTP' ? 'PAYLOAD_TOO_LARGE' : 'RUNTIME_UNAVAILABLE' });
  close();
  const again = await open();
  expect((await again.client.sessions.getDraft({ sessionId: session.id })).text.length).toBe(200_000);
  again.close();
});

it.each(ways)('over %s a program with a key may mute and never lifts it; a signed-in page may', async (_name, open) => {
  const { client, close } = await open();
  expect(await client.voice.mute({ muted: true })).toMatchObject({ muted: true });
  await expect(client.voice.mute({ muted: false })).rejects.toMatchObject({ code: 'USER_ONLY' });
  // Nor by another spelling of the same call.
  for (const [path, body] of [
    ['/rpc/voice/mute/', { json: { muted: false } }],
    ['/rpc/voice/mute', { json: { muted: 0 } }],
    ['/rpc/voice/mute', {}],
    ['/rpc/voice/%6Dute', { json: { muted: false } }],
    ['/rpc//voice/mute', { json: { muted: false } }],
    ['/rpc/settings/set', { json: { muted: false } }],
  ] as const) {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const reply = await fetch(new URL(path, url), { method: 'POST', headers, body: JSON.stringify(body) });
    expect([path, reply.status >= 400]).toEqual([path, true]);
  }
  expect(runtime.runtime.services.voice.view.get().muted).toBe(true);
  close();

  const { keys } = runtime.runtime.services;
  const page = keys.signIn(keys.oneTimeCode().code, new URL(url).host);
  const cookie = `sotto_page_${new URL(url).port}=${page?.secret}`;
  // What a page has are sockets; a single call with its cookie is no page.
  const single = await fetch(new URL('/rpc/voice/mute', url), {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ json: { muted: false } }),
  });
  expect(single.status).toBe(403);
  const socket = new WebSocket(new URL('/rpc', url.replace('http', 'ws')), { headers: { cookie } });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const person: RuntimeClient = createORPCClient(linkOf(socket));
  expect(await person.voice.mute({ muted: false })).toMatchObject({ muted: false });
  socket.close();
});
