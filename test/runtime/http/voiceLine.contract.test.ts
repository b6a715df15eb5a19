import { afterEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { HttpServerOptions } from '../../../src/runtime/http/server.ts';
import { type LineWire, maxLineText } from '../../../src/shared/contract/voiceLine.ts';
import { decodeFrame, encodeFrame, frameBytes } from '../../../src/shared/util/audioWire.ts';
import { createFakeClock } from '../../helpers/fakeClock.ts';
import { startTestServer, type TestServer } from './testServer.ts';

const disposals: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const dispose of disposals.splice(0).reverse()) await dispose();
});

async function serve(options: Partial<HttpServerOptions> = {}): Promise<TestServer> {
  const server = await startTestServer(options);
  disposals.push(() => server[Symbol.asyncDispose]());
  return server;
}

/** A page's end of a line and the runtime's, both with all that came. */
async function open(server: TestServer, headers: Record<string, string> = { authorization: `Bearer ${server.secret}` }) {
  const before = server.voiceLines.length;
  const socket = new WebSocket(`ws://${server.host}/api/voice/stream`, { headers });
  disposals.push(() => socket.terminate());
  const got: (string | Uint8Array)[] = [];
  socket.on('message', (data: Buffer, isBinary: boolean) => got.push(isBinary ? new Uint8Array(data) : data.toString()));
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const heard: unknown[] = [];
  const line = server.voiceLines[before];
  const gone = { yes: false };
  line?.onMessage((data) => heard.push(data));
  line?.onClose(() => {
    gone.yes = true;
  });
  return { socket, closed, got, line: line as LineWire, heard, gone };
}

/** Waits for a state of the other side that nothing announces. */
async function until(check: () => boolean): Promise<void> {
  while (!check()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const frame = () =>
  encodeFrame({ seq: 7, captureMs: 224, clipped: false, zero: false, gap: false, samples: Float32Array.from({ length: 512 }, Math.sin) });

it('carries texts and sound both ways in their order, bytes as they were', async () => {
  const { socket, got, line, heard } = await open(await serve());
  socket.send('{"t":"ended"}');
  socket.send(frame());
  socket.send('{"t":"outputLost"}');
  await until(() => heard.length === 3);
  expect([heard[0], heard[2]]).toEqual(['{"t":"ended"}', '{"t":"outputLost"}']);
  expect(heard[1]).toEqual(frame());
  // The socket reads many messages into one buffer; what is handed on may hold nothing but its own.
  expect((heard[1] as Uint8Array).buffer.byteLength).toBe(frameBytes);
  expect(decodeFrame(heard[1] as Uint8Array)).toMatchObject({ seq: 7, captureMs: 224 });

  line.send('{"t":"openMic","device":null}');
  line.send(Uint8Array.of(1, 2, 3, 4));
  await until(() => got.length === 2);
  expect(got).toEqual(['{"t":"openMic","device":null}', Uint8Array.of(1, 2, 3, 4)]);
});

it('a signed-in page is let in by its cookie, and another origin is not', async () => {
  const server = await serve();
  const page = server.keys.signIn(server.keys.oneTimeCode().code, server.host);
  const cookie = `sotto_page_${server.port}=${page?.secret}`;
  const { heard, socket } = await open(server, { cookie, origin: `http://${server.host}` });
  socket.send('x');
  await until(() => heard.length === 1);
  await expect(open(server, { cookie, origin: 'https://evil.test' })).rejects.toThrow('403');
  await expect(open(server, {})).rejects.toThrow('401');
  expect(server.voiceLines).toHaveLength(1);
});

it('what is no message of a line closes it with 1008, and one too long for any with 1009', async () => {
  const server = await serve();
  for (const [bad, code] of [
    ['x'.repeat(maxLineText + 1), 1008],
    [new Uint8Array(frameBytes + 1), 1008],
    [new Uint8Array(64 * 1024), 1009],
  ] as const) {
    const { socket, closed, heard, gone } = await open(server);
    socket.send(bad);
    socket.send('after it');
    expect((await closed).code).toBe(code);
    await until(() => gone.yes);
    expect(heard).toEqual([]);
  }
});

it('closes with the reason of whoever serves it: 1008 a bad frame, 1013 busy, 1001 over', async () => {
  const server = await serve();
  for (const [reason, code] of [
    ['bad', 1008],
    ['busy', 1013],
    ['over', 1001],
  ] as const) {
    const { line, closed, got } = await open(server);
    line.close(reason);
    line.send('late');
    expect((await closed).code).toBe(code);
    expect(got).toEqual([]);
  }
});

it('a revoked key closes its line with 4401, and a stopping server all with 1001', async () => {
  const server = await startTestServer();
  const doomed = server.keys.create('doomed');
  const cut = await open(server, { authorization: `Bearer ${doomed.secret}` });
  const kept = await open(server);
  server.keys.revoke(doomed.key.id);
  expect(await cut.closed).toEqual({ code: 4401, reason: 'signed out' });
  await until(() => cut.gone.yes);
  expect(kept.gone.yes).toBe(false);
  const stopped = server.server.close();
  expect(await kept.closed).toEqual({ code: 1001, reason: 'shutdown' });
  await stopped;
  await server[Symbol.asyncDispose]();
});

it('a page that does not read: what is said waits up to a bound, then its line is closed, and no other', async () => {
  const server = await serve({ limits: { lineBufferBytes: 2 * 1024 * 1024 } });
  const deaf = await open(server);
  const other = await open(server);
  deaf.socket.pause();
  const chunk = new Uint8Array(256 * 1024);
  for (let sent = 0; sent < 4; sent += 1) deaf.line.send(chunk);
  deaf.socket.resume();
  await until(() => deaf.got.length === 4);
  deaf.socket.pause();
  // Far more than the bound and what the kernel holds on top of it.
  for (let sent = 0; sent < 100; sent += 1) deaf.line.send(chunk);
  await until(() => deaf.gone.yes);
  other.line.send('still here');
  await until(() => other.got.length === 1);
});

it('one who went away without a word is noticed by the heartbeat', async () => {
  const clock = createFakeClock();
  const server = await serve({ clock });
  disposals.push(() => void clock.advanceAsync(10_000));
  const { socket, gone } = await open(server);
  socket.pause();
  await clock.advanceAsync(15_000);
  expect(gone.yes).toBe(false);
  await clock.advanceAsync(15_000);
  await until(() => gone.yes);
});

it('a line too many is told that it is busy, and room that came back is used', async () => {
  const server = await serve({ limits: { lines: 1 } });
  const first = await open(server);
  const second = new WebSocket(`ws://${server.host}/api/voice/stream`, { headers: { authorization: `Bearer ${server.secret}` } });
  expect(await new Promise((resolve) => second.once('close', resolve))).toBe(1013);
  first.socket.close();
  await until(() => first.gone.yes);
  const third = await open(server);
  third.line.send('in');
  await until(() => third.got.length === 1);
});
