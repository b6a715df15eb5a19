import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { AnyRouter } from '@orpc/server';
import { WebSocketServer } from 'ws';
import { createRefusals } from '../../src/runtime/procedures/errorMapping.ts';
import { createConnections } from '../../src/runtime/procedures/serveConnection.ts';
import { createTestLog } from '../helpers/testRuntime.ts';
import type { FakeVoice } from './fakeVoice.ts';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** The policy of the real page (robustness page, section 5), so that a screenshot or an axe run meets what a person meets. */
const policy =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; media-src 'self' blob:; font-src 'self'; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Serves a built page and a router on loopback, without any guard: for screenshots and page tests only, never for a person.
 *
 * @param pageDir  folder with index.html.
 * @param voice    the other end of the page's voice lines; without it they are refused.
 */
export async function servePage(router: AnyRouter, pageDir: string, voice?: FakeVoice) {
  const http = createServer((request, response) => {
    const name = new URL(request.url ?? '/', 'http://loopback').pathname;
    const file = path.join(pageDir, name === '/' ? 'index.html' : path.normalize(name));
    readFile(file).then(
      (bytes) => {
        response.writeHead(200, {
          'content-type': types[path.extname(file)] ?? 'application/octet-stream',
          'content-security-policy': policy,
        });
        response.end(bytes);
      },
      () => {
        response.writeHead(404);
        response.end();
      },
    );
  });
  const sockets = new WebSocketServer({ noServer: true });
  const lines = new WebSocketServer({ noServer: true });
  http.on('upgrade', (request, socket, head) => {
    const to = request.url === '/rpc' ? sockets : request.url === '/api/voice/stream' && voice !== undefined ? lines : null;
    if (to === null) socket.destroy();
    else to.handleUpgrade(request, socket, head, (opened) => to.emit('connection', opened, request));
  });
  lines.on('connection', (socket) => {
    const line = voice?.openLine(
      (data) => socket.send(data),
      () => socket.close(),
    );
    socket.on('message', (data: Buffer, isBinary) => line?.take(isBinary ? Uint8Array.from(data) : data.toString()));
    socket.on('close', () => line?.lose());
  });
  const serve = createConnections({ router, refusals: createRefusals(), log: createTestLog() });
  sockets.on('connection', (socket) =>
    serve({
      send: (text) => socket.send(text),
      onMessage: (listener) => void socket.on('message', (data: Buffer) => listener(data.toString())),
      onClose: (listener) => void socket.on('close', listener),
    }),
  );
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    /** Drops every open connection, as a runtime that died. */
    dropAll: () => {
      for (const socket of sockets.clients) socket.terminate();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of [...sockets.clients, ...lines.clients]) socket.terminate();
      sockets.close();
      lines.close();
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
}
