import { connect } from 'node:net';
import { os as bare, eventIterator } from '@orpc/server';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { createHttpServer, type HttpServerOptions } from '../../../src/runtime/http/server.ts';
import type { Logger } from '../../../src/runtime/platform/ports.ts';
import { createRefusals, errorMiddleware, type Refusals } from '../../../src/runtime/procedures/errorMapping.ts';
import { createKeys } from '../../../src/runtime/store/keys.ts';
import { migration } from '../../../src/runtime/store/migrations/0003-server.ts';
import type { LineWire } from '../../../src/shared/contract/voiceLine.ts';
import type { Clock } from '../../../src/shared/util/clock.ts';
import { deferred } from '../../../src/shared/util/deferred.ts';

/** Real time, for what a socket does by itself. */
export const realClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Keeps every line, so that a test can search them. */
export function createTestLog() {
  const lines: string[] = [];
  const write = (level: string) => (event: string, fields?: object, cause?: unknown) => {
    lines.push(JSON.stringify({ level, event, ...fields, cause: cause === undefined ? undefined : String(cause) }));
  };
  const log: Logger = { info: write('info'), warn: write('warn'), error: write('error') };
  return { log, lines };
}

/** A router small enough to see through: a call that leaves a mark, one that waits, a stream, one that fails in a foreign way. */
export function createTestRouter(log: Logger, refusals: Refusals) {
  const mapped = errorMiddleware({ log, refusals });
  const os = bare.use(({ path, next }, input) => mapped({ path, next: async () => next() }, input));
  const seen: string[] = [];
  const held = deferred<void>();
  const streams = { open: 0 };
  const voiceLines: LineWire[] = [];
  const router = {
    echo: os.input(z.strictObject({ text: z.string(), count: z.int().min(0).optional() })).handler(({ input }) => {
      seen.push(input.text);
      return { text: input.text };
    }),
    hold: os.input(z.strictObject({})).handler(async () => {
      seen.push('hold');
      await held.promise;
      return { held: true };
    }),
    ticks: os
      .input(z.strictObject({}))
      .output(eventIterator(z.object({ n: z.int() })))
      .handler(async function* ({ signal }) {
        streams.open++;
        try {
          yield { n: 1 };
          await new Promise<void>((resolve) => {
            signal?.addEventListener('abort', () => resolve(), { once: true });
          });
        } finally {
          streams.open--;
        }
      }),
    flood: os
      .input(z.strictObject({}))
      .output(eventIterator(z.object({ n: z.int(), filler: z.string() })))
      .handler(async function* ({ signal }) {
        for (let n = 1; n <= 2000 && !signal?.aborted; n++) {
          streams.open = n;
          yield { n, filler: 'x'.repeat(64 * 1024) };
        }
      }),
    broken: os.input(z.strictObject({})).handler(() => {
      throw new Error('cannot open /home/someone/secret.txt');
    }),
  };
  return { router, seen, held, streams, voiceLines };
}

/** A listening server over a real database and the small router. */
export async function startTestServer(options: Partial<HttpServerOptions> = {}) {
  const db = new Database(':memory:');
  migration.up(db);
  const clock = options.clock ?? realClock;
  const keys = createKeys({ db, clock });
  const { log, lines } = createTestLog();
  const refusals = createRefusals();
  const test = createTestRouter(log, refusals);
  const server = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    allowedHosts: [],
    allowRemote: false,
    auth: true,
    version: '9.9.9',
    instance: 'instance-1',
    pageDir: null,
    log,
    ...options,
    clock,
  });
  const { port, url } = await server.listen();
  await server.open({
    router: test.router,
    serveVoice: (line) => void test.voiceLines.push(line),
    refusals,
    keys,
    readiness: () => ({
      ready: true,
      store: { state: 'ok', code: null },
      engines: [{ key: 'language', state: 'idle' }],
      models: { language: { state: 'idle', modelId: 'small' } },
    }),
  });
  const { secret, key } = keys.create('test');
  return {
    ...test,
    server,
    keys,
    key,
    secret,
    port,
    url,
    lines,
    refusals,
    host: `127.0.0.1:${port}`,
    /** A well-formed request with the key, over `fetch`. */
    call: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(new URL(path, url), {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async [Symbol.asyncDispose]() {
      test.held.resolve();
      await server.close();
      db.close();
    },
  };
}
export type TestServer = Awaited<ReturnType<typeof startTestServer>>;

export type RawReply = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string };

/**
 * Sends bytes as they are, for what no HTTP client would send, and reads one answer.
 *
 * @param text  head and body; written at once.
 */
export function raw(port: number, text: string): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port });
    let received = '';
    const done = () => {
      const reply = parseReply(received);
      if (reply === null) reject(new Error(`no answer but ${JSON.stringify(received.slice(0, 200))}`));
      else resolve(reply);
      socket.destroy();
    };
    socket.setEncoding('latin1');
    socket.on('data', (piece) => {
      received += piece;
      if (isComplete(received)) done();
    });
    socket.on('end', done);
    socket.on('error', done);
    socket.write(text, 'latin1');
  });
}

/** A head as a client writes it. `undefined` leaves a header out. */
export function head(method: string, target: string, headers: Readonly<Record<string, string | undefined>>): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  return `${[`${method} ${target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`;
}

function isComplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  if (/^HTTP\/1\.1 101/.test(text)) return true;
  const length = /content-length: (\d+)/i.exec(text.slice(0, end));
  return length !== null && text.length >= end + 4 + Number(length[1]);
}

function parseReply(text: string): RawReply | null {
  const end = text.indexOf('\r\n\r\n');
  const first = /^HTTP\/1\.1 (\d{3})/.exec(text);
  if (end < 0 || first === null) return null;
  const headers: Record<string, string> = {};
  for (const line of text.slice(0, end).split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { status: Number(first[1]), headers, body: text.slice(end + 4) };
}
