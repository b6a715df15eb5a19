import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import type { AnyRouter } from '@orpc/server';
import { WebSocketServer } from 'ws';
import type { LineWire } from '../../shared/contract/voiceLine.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { Clock, Logger } from '../platform/ports.ts';
import type { Refusals } from '../procedures/errorMapping.ts';
import type { Caller, Keys } from '../store/keys.ts';
import { type Addresses, createAddresses, hostAndPort, isLoopback } from './address.ts';
import { type AppServices, createApp, headersOf, type Readiness, routesOf, signInInstead } from './app.ts';
import { type Admission, type Credential, createGuard, type Refusal, type RequestHead, type Verdict } from './guard.ts';
import { type HttpLimits, httpLimits } from './limits.ts';
import { createLogin } from './login.ts';
import { errorReply, type Reply } from './replies.ts';
import { matchRoute, type Route } from './routes.ts';
import { createRpc, type Rpc } from './rpc.ts';
import { closeCodes, createSockets, type Sockets } from './socket.ts';
import { createStaticFiles } from './staticFiles.ts';

export type HttpServerOptions = {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly allowRemote: boolean;
  /** False = `--no-auth`: whoever reaches the loopback port is let in. */
  readonly auth: boolean;
  readonly version: string;
  readonly instance: string;
  /** The built page (folder with index.html), or null. */
  readonly pageDir: string | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits?: Partial<HttpLimits>;
};

export type HttpServer = {
  /** Binds. Until `open` everything but `/health` is 503. Throws BIND_REFUSED, PORT_IN_USE. */
  listen(): Promise<{ url: string; port: number }>;
  /** Recovery is done: serves the router, and voice lines by `serveVoice`. */
  open(services: {
    router: AnyRouter;
    serveVoice: (wire: LineWire) => void;
    keys: Keys;
    refusals: Refusals;
    readiness: () => Readiness;
  }): Promise<void>;
  /** Orderly end: no new calls, running ones get `drainMs`, then every connection is closed. */
  close(): Promise<void>;
};

type Open = { keys: Keys; rpc: Rpc; refusals: Refusals; sockets: Sockets; app: AppServices; routes: readonly Route[]; dispose(): void };

/**
 * The headless server (http-backend page): one guard before every route, static file and upgrade; behind it the page, the socket and
 * the calls of one router. No I/O before `listen`.
 */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { clock, log } = options;
  const limits: HttpLimits = { ...httpLimits, ...options.limits };
  const admitted = new WeakMap<IncomingMessage, Admission>();
  const answering = new Map<ServerResponse, Caller | null>();
  const noteRefusal = createRefusalLog(log, clock);
  let routes = routesOf([], limits);
  let open: Open | null = null;
  let stopping = false;
  let guard: (head: RequestHead) => Verdict = () => ({ ok: false, error: new AppError('NOT_READY') });

  const services = () => {
    if (open === null) throw new AppError('NOT_READY');
    return open.app;
  };
  const app = createApp({
    clock,
    log,
    limits,
    version: options.version,
    instance: options.instance,
    status: () => (stopping ? 'stopping' : open === null ? 'starting' : 'ok'),
    services,
    admissionOf: (request) => {
      const admission = admitted.get(request);
      if (admission === undefined) throw new Error('a request passed the guard');
      return admission;
    },
  });
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });

  function authenticate(credential: Credential, host: string): Caller | null {
    if (open === null || credential === 'none') return null;
    if ('bearer' in credential) return open.keys.verify(credential.bearer, null);
    for (const cookie of credential.cookies) {
      const caller = open.keys.verify(cookie, { host });
      if (caller !== null) return caller;
    }
    return null;
  }

  function busy(row: Route): { retryAfterSeconds: number } | null {
    if (open === null) return null;
    if (row.access === 'code') {
      const waitMs = open.app.login.waitMs();
      return waitMs > 0 ? { retryAfterSeconds: waitMs / 1000 } : null;
    }
    return row.name === 'call' && !open.rpc.work.hasRoom() ? { retryAfterSeconds: 1 } : null;
  }

  function makeGuard(addresses: Addresses): (head: RequestHead) => Verdict {
    return createGuard({
      addresses,
      limits,
      match: (method, path) => matchRoute(routes, method, path),
      needsCredential: options.auth,
      authenticate,
      busy: (route) => busy(route.row),
      ready: () => open !== null && !stopping,
    });
  }

  /** The reply to a refused request, counted. */
  function refusal(verdict: Refusal, request: IncomingMessage): Reply {
    noteRefusal(verdict.error.code);
    open?.refusals.count(verdict.error.code);
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const form = (request.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded');
    const instead = signInInstead(path, form, verdict.error, clock);
    return instead ?? errorReply(verdict.error, { status: verdict.status, headers: { ...headersOf(verdict.error), ...verdict.headers } });
  }

  function handle(request: IncomingMessage, response: ServerResponse, awaited: boolean): void {
    const verdict = admit(guard(headOf(request)), false);
    if (!verdict.ok) return send(response, refusal(verdict, request), request, clock);
    admitted.set(request, verdict);
    answering.set(response, verdict.caller);
    response.once('close', () => {
      answering.delete(response);
      linger(request, clock);
    });
    if (awaited) response.writeContinue();
    listener(request, response).catch((error: unknown) => {
      log.error('http.failed', {}, error);
      response.destroy();
    });
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const verdict = admit(guard(headOf(request)), true);
    if (!verdict.ok) return sendRaw(socket, refusal(verdict, request), clock);
    const isLine = verdict.route.row.name === 'voiceLine';
    (isLine ? lineSockets : webSockets).handleUpgrade(request, socket, head, (webSocket) => {
      if (open === null || stopping) webSocket.close(closeCodes.shutdown, 'shutdown');
      else if (isLine) open.sockets.addLine(webSocket, verdict.caller);
      else open.sockets.add(webSocket, verdict.caller);
    });
  }

  // No compression: it costs memory for each socket and mixes secrets with what others wrote.
  const upgrades = { noServer: true, perMessageDeflate: false, clientTracking: false } as const;
  const webSockets = new WebSocketServer({ ...upgrades, maxPayload: limits.frameBytes });
  const lineSockets = new WebSocketServer({ ...upgrades, maxPayload: limits.lineFrameBytes });
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    // Our own guard answers these, so that every refusal has one shape.
    requireHostHeader: false,
    shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === 'websocket',
  });
  server.maxConnections = limits.connections;
  server.on('request', (request, response) => handle(request, response, false));
  server.on('checkContinue', (request, response) => handle(request, response, true));
  server.on('checkExpectation', (request, response) =>
    send(response, errorReply(new AppError('INVALID_INPUT', { field: 'expect', reason: 'unknown' }), { status: 417 }), request, clock),
  );
  server.on('upgrade', upgrade);
  server.on('connect', (_request, socket) =>
    sendRaw(socket, errorReply(new AppError('INVALID_INPUT', { field: 'address', reason: 'type' })), clock),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    sendRaw(socket, malformedReply(error.code), clock);
  });

  return {
    async listen() {
      if (!isLoopback(options.host) && !(options.allowRemote && options.auth)) throw new AppError('BIND_REFUSED', { host: options.host });
      const port = await bind(server, options.host, options.port);
      guard = makeGuard(createAddresses(port, options.allowedHosts));
      const url = `http://${hostAndPort(options.host, port)}/`;
      log.info('http.listening', { port, auth: options.auth, remote: !isLoopback(options.host) });
      return { url, port };
    },
    async open({ router, serveVoice, keys, refusals, readiness }) {
      const files = await createStaticFiles(options.pageDir);
      const rpc = createRpc({ router, refusals, log, limits });
      const sockets = createSockets({ rpc, serveVoice, keys, clock, limits });
      const forget = keys.onRevoked((keyId) => {
        sockets.close(closeCodes.signedOut, 'signed out', keyId);
        for (const [response, caller] of answering) if (caller?.keyId === keyId) response.destroy();
        log.info('http.key_revoked', { keyId });
      });
      routes = routesOf(files.paths, limits);
      const dispose = () => {
        forget();
        sockets[Symbol.dispose]();
      };
      open = { keys, rpc, sockets, refusals, routes, dispose, app: { rpc, files, readiness, login: createLogin({ keys, clock, limits }) } };
    },
    async close() {
      if (stopping) return;
      stopping = true;
      const closed = new Promise<void>((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));
      server.closeIdleConnections();
      if (open !== null) {
        open.rpc.work.stop();
        const pause = (ms: number) => new Promise<void>((resolve) => void clock.setTimer(ms, resolve));
        await Promise.race([open.rpc.work.idle(), pause(limits.drainMs)]);
        // The last answers are still on their way to the sockets.
        await pause(limits.flushMs);
        open.sockets.close(closeCodes.shutdown, 'shutdown');
        const { sockets } = open;
        for (let waited = 0; waited < limits.closeMs && (sockets.size > 0 || answering.size > 0); waited += 20) await pause(20);
        open.dispose();
      }
      server.closeAllConnections();
      await closed;
      log.info('http.closed');
    },
  };
}

/** An upgrade belongs to the row that asks for one, and only to it. */
function admit(verdict: Verdict, upgrading: boolean): Verdict {
  if (!verdict.ok || (verdict.route.row.upgrade === true) === upgrading) return verdict;
  return { ok: false, error: new AppError('INVALID_INPUT', { field: 'upgrade', reason: upgrading ? 'unknown' : 'missing' }) };
}

const headOf = (request: IncomingMessage): RequestHead => ({
  method: request.method ?? '',
  target: request.url ?? '',
  rawHeaders: request.rawHeaders,
});

function bind(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) =>
      reject(new AppError(error.code === 'EADDRINUSE' ? 'PORT_IN_USE' : 'BIND_REFUSED', { port, host }, { cause: error }));
    server.once('error', onError);
    server.listen({ host: host.replace(/^\[|\]$/g, ''), port }, () => {
      server.off('error', onError);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function send(response: ServerResponse, reply: Reply, request: IncomingMessage, clock: Clock): void {
  response.writeHead(reply.status, { ...reply.headers, 'content-length': Buffer.byteLength(reply.body) });
  response.end(reply.body);
  response.once('close', () => linger(request, clock));
}

/**
 * After an early answer the sender may still be sending. What comes is thrown away for a second, so that the answer is not lost in a
 * reset; then the connection ends.
 */
function linger(request: IncomingMessage, clock: Clock): void {
  if (request.complete || request.destroyed) return;
  request.resume();
  const stop = clock.setTimer(1000, () => request.socket.destroy());
  request.once('end', stop);
}

function sendRaw(socket: Duplex, reply: Reply, clock: Clock): void {
  const head = Object.entries({ ...reply.headers, 'content-length': String(Buffer.byteLength(reply.body)), connection: 'close' });
  socket.write(`HTTP/1.1 ${reply.status} ${reason(reply.status)}\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  socket.end(reply.body);
  // Who is told no and stays connected is cut; not at once, or the answer could be lost in the reset.
  clock.setTimer(500, () => socket.destroy());
}

const reason = (status: number) => (status < 500 ? 'Refused' : 'Unavailable');

function malformedReply(code: string | undefined): Reply {
  if (code === 'HPE_HEADER_OVERFLOW')
    return errorReply(new AppError('INVALID_INPUT', { field: 'headers', reason: 'range' }), { status: 431 });
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return errorReply(new AppError('REQUEST_TIMEOUT'));
  return errorReply(new AppError('INVALID_INPUT', { field: 'request', reason: 'type' }));
}

/** Each code is logged at its first time and then at most once a minute, so that a hostile page cannot fill the log. */
function createRefusalLog(log: Logger, clock: Clock): (code: string) => void {
  const seen = new Map<string, { times: number; loggedAt: number }>();
  return (code) => {
    const now = clock.monotonicMs();
    const { times, loggedAt } = seen.get(code) ?? { times: 0, loggedAt: Number.NEGATIVE_INFINITY };
    const due = now - loggedAt >= 60_000;
    seen.set(code, { times: times + 1, loggedAt: due ? now : loggedAt });
    if (due) log.warn('http.refused', { code, times: times + 1 });
  };
}
