import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

/** How one request is answered. All positions are bytes of the whole body; a fault at a place that the answer does not reach does nothing. */
export type Step = {
  status?: number;
  headers?: Record<string, string>;
  body?: Uint8Array | string;
  /** `null` = none is sent. Default: a strong tag of the body. */
  etag?: string | null;
  /** Pace of the body; without it all goes at once. */
  bytesPerSecond?: number;
  /** Sends up to here, then nothing more, with the socket open. */
  stallAt?: number;
  /** Sends up to here, then resets the connection. */
  resetAt?: number;
  /** Sends up to here, then ends as if all were well (chunked, so that nothing tells). */
  cutAt?: number;
  flipAt?: number;
  /** A lie about the length; `null` = chunked, no length at all. */
  length?: number | null;
  gzip?: boolean;
  ignoreRange?: boolean;
  /** Answers a range with another start, or another total, than asked. */
  rangeStart?: number;
  rangeTotal?: number | '*';
  /** `/path` on this host, `b:/path` on host B, or a whole address. `sign` adds a fresh one-time number to it. */
  redirect?: string;
  sign?: boolean;
  /** A signed link answers that often, then 403. */
  linkUses?: number;
};

/** What a path does: one step for all requests, or one each, the last one staying. */
export type Route = { path: string } & (Step | { steps: readonly Step[] });

export type SeenRequest = {
  readonly host: 'a' | 'b';
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly at: number;
};

export type FaultServer = {
  /** Address of a path on host A. */
  url(path: string): string;
  urlB(path: string): string;
  readonly port: number;
  readonly portB: number;
  readonly requests: readonly SeenRequest[];
  /** Requests whose path (without its query) is this. */
  to(path: string): SeenRequest[];
  /** Replaces what a path does from now on. */
  set(route: Route): void;
  /** Called for each new connection, before a byte of it is read. */
  onConnection: (() => void) | null;
  readonly connections: number;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * An HTTP server on loopback that breaks the way servers break (robustness page, section 4). Two ports stand for two hosts.
 *
 * @param routes  what each path does; any other path is 404.
 */
export async function faultServer(routes: readonly Route[]): Promise<FaultServer> {
  const plans = new Map<string, { steps: readonly Step[]; next: number }>();
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const links = new Map<string, number>();
  let signed = 0;
  let connections = 0;
  let shutDown = false;

  const set = ({ path, ...rest }: Route) => plans.set(path, { steps: 'steps' in rest ? rest.steps : [rest], next: 0 });
  for (const route of routes) set(route);

  const serve = (host: 'a' | 'b') => (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://host');
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.headers)) headers[name] = String(value);
    requests.push({ host, path: request.url ?? '', method: request.method ?? '', headers, at: Date.now() });
    const plan = plans.get(url.pathname);
    if (plan === undefined) {
      response.writeHead(404).end('no such path');
      return;
    }
    const step = plan.steps[Math.min(plan.next, plan.steps.length - 1)] ?? {};
    plan.next += 1;
    if (step.linkUses !== undefined) {
      const uses = (links.get(url.search) ?? 0) + 1;
      links.set(url.search, uses);
      if (uses > step.linkUses) {
        response.writeHead(403).end('link expired');
        return;
      }
    }
    if (step.redirect !== undefined) {
      const where = step.redirect.startsWith('b:') ? `http://127.0.0.1:${portOf(b)}${step.redirect.slice(2)}` : step.redirect;
      const location = step.sign === true ? `${where}?sig=${++signed}` : where;
      response.writeHead(step.status ?? 302, { location, ...step.headers }).end();
      return;
    }
    void answer(request, response, step, () => shutDown);
  };

  const start = async (host: 'a' | 'b') => {
    const server = createServer(serve(host));
    server.on('connection', (socket) => {
      connections += 1;
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      self.onConnection?.();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  const self: FaultServer = {
    url: (path) => `http://127.0.0.1:${portOf(a)}${path}`,
    urlB: (path) => `http://127.0.0.1:${portOf(b)}${path}`,
    get port() {
      return portOf(a);
    },
    get portB() {
      return portOf(b);
    },
    requests,
    to: (path) => requests.filter((request) => request.path.split('?')[0] === path),
    set,
    onConnection: null,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      shutDown = true;
      for (const socket of sockets) socket.destroy();
      await Promise.all([a, b].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
  const a = await start('a');
  const b = await start('b');
  return self;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** The strong tag that a body gets when the script names none. */
export function etagOf(body: Uint8Array): string {
  return `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
}

async function answer(request: IncomingMessage, response: ServerResponse, step: Step, isShut: () => boolean): Promise<void> {
  const plain = Buffer.from(step.body ?? '');
  const whole = step.flipAt === undefined ? plain : flipped(plain, step.flipAt);
  const etag = step.etag === undefined ? etagOf(plain) : step.etag;
  const headers: Record<string, string> = { 'accept-ranges': 'bytes', ...(etag === null ? {} : { etag }), ...step.headers };
  if (step.status !== undefined && step.status !== 200) {
    response.writeHead(step.status, headers).end(plain);
    return;
  }
  const range = rangeOf(request, step, etag);
  if (range !== null && range >= whole.length && step.rangeStart === undefined) {
    response.writeHead(416, { ...headers, 'content-range': `bytes */${whole.length}` }).end();
    return;
  }
  const from = range === null ? 0 : (step.rangeStart ?? range);
  const body = whole.subarray(from);
  if (range !== null) headers['content-range'] = `bytes ${from}-${whole.length - 1}/${step.rangeTotal ?? whole.length}`;
  const sent = step.gzip === true ? gzipSync(body) : body;
  if (step.gzip === true) headers['content-encoding'] = 'gzip';
  const length = step.length === undefined ? sent.length : step.length;
  if (length !== null && step.cutAt === undefined) headers['content-length'] = String(length);
  response.writeHead(range === null ? 200 : 206, headers);
  response.flushHeaders();
  await send(response, sent, from, step, isShut);
}

function rangeOf(request: IncomingMessage, step: Step, etag: string | null): number | null {
  const match = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
  if (match === null || step.ignoreRange === true) return null;
  const ifRange = request.headers['if-range'];
  return ifRange !== undefined && ifRange !== etag ? null : Number(match[1]);
}

async function send(response: ServerResponse, body: Uint8Array, from: number, step: Step, isShut: () => boolean): Promise<void> {
  const stops = [step.stallAt, step.resetAt, step.cutAt].filter((at) => at !== undefined).map((at) => Math.max(0, at - from));
  const end = Math.min(body.length, ...stops);
  const piece = step.bytesPerSecond === undefined ? 256 * 1024 : Math.max(1, Math.ceil(step.bytesPerSecond / 50));
  for (let at = 0; at < end && !response.destroyed; ) {
    const next = body.subarray(at, Math.min(at + piece, end));
    at += next.length;
    if (!response.write(next)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    if (step.bytesPerSecond !== undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    if (isShut()) return;
  }
  if (response.destroyed) return;
  if (step.stallAt !== undefined && step.stallAt - from < body.length) return;
  if (step.resetAt !== undefined && step.resetAt - from < body.length) {
    // Let what was written reach the other side first: a reset throws away what is still on its way.
    setTimeout(() => response.socket?.resetAndDestroy(), 30);
    return;
  }
  response.end();
}

function flipped(body: Buffer, at: number): Buffer {
  const copy = Buffer.from(body);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}
