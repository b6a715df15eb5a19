import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/fetch';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectToServer, type RuntimeClient } from '../../../src/runtime/http/client.ts';
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
