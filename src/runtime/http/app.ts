import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { timestamp } from '../../shared/domain/time.ts';
import { AppError, toAppError } from '../../shared/errors/appError.ts';
import type { Clock, Logger } from '../platform/ports.ts';
import { readBody } from './body.ts';
import type { Admission } from './guard.ts';
import { parseJson } from './json.ts';
import type { HttpLimits } from './limits.ts';
import { codeOf, type Login } from './login.ts';
import { commonHeaders, errorReply, json, type Reply, redirect, toResponse } from './replies.ts';
import type { Route } from './routes.ts';
import type { Rpc } from './rpc.ts';
import { type SignInNotice, signInReply } from './signIn.ts';
import type { StaticFiles } from './staticFiles.ts';

/** What `/ready` tells; 200 only if `ready`. */
export type Readiness = {
  readonly ready: boolean;
  readonly store: { readonly state: string; readonly code: string | null };
  readonly engines: readonly { readonly key: string; readonly state: string }[];
  readonly models: { readonly language: { readonly state: string; readonly modelId: string | null } };
};

/** What exists once the runtime has recovered. */
export type AppServices = {
  readonly rpc: Rpc;
  readonly login: Login;
  readonly files: StaticFiles;
  readonly readiness: () => Readiness;
};

export type AppDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits: HttpLimits;
  readonly version: string;
  readonly instance: string;
  readonly status: () => 'starting' | 'ok' | 'stopping';
  readonly services: () => AppServices;
  readonly admissionOf: (request: IncomingMessage) => Admission;
};

const jsonOnly = { types: ['application/json'] };

/** Every route of this server; static files are rows like the others. */
export function routesOf(filePaths: readonly string[], limits: HttpLimits): readonly Route[] {
  return [
    { name: 'health', method: 'GET', path: '/health', access: 'public', body: null },
    { name: 'ready', method: 'GET', path: '/ready', access: 'key', body: null },
    { name: 'page', method: 'GET', path: '/', access: 'key', body: null },
    { name: 'signInPage', method: 'GET', path: '/login', access: 'key', body: null },
    {
      name: 'login',
      method: 'POST',
      path: '/login',
      access: 'code',
      body: { types: ['application/x-www-form-urlencoded', 'application/json'], maxBytes: limits.loginBytes },
    },
    { name: 'socket', method: 'GET', path: '/rpc', access: 'key', body: null, upgrade: true },
    { name: 'voiceLine', method: 'GET', path: '/api/voice/stream', access: 'key', body: null, upgrade: true },
    { name: 'call', method: 'POST', path: '/rpc/*', access: 'key', body: { ...jsonOnly, maxBytes: limits.jsonBytes } },
    ...filePaths.map((path): Route => ({ name: 'file', method: 'GET', path, access: 'key', body: null })),
  ];
}

/** The handlers of the rows. The guard has admitted the request before hono sees it. */
export function createApp(deps: AppDeps) {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const { clock, limits } = deps;

  const bodyOf = async (request: IncomingMessage, maxBytes: number) =>
    (await readBody(request, { maxBytes, idleMs: limits.bodyIdleMs, clock })).toString('utf8');

  app.get('/health', () => toResponse(json(200, { status: deps.status(), version: deps.version, instance: deps.instance })));

  app.get('/ready', () => {
    const { ready, ...state } = deps.services().readiness();
    return toResponse(json(ready ? 200 : 503, { ready, ...state }));
  });

  app.get('/', async (c) => {
    const page = await deps.services().files.page(deps.admissionOf(c.env.incoming).host);
    return toResponse(page ?? errorReply(new AppError('NOT_FOUND')));
  });

  app.get('/login', () => toResponse(redirect('/')));

  app.post('/login', async (c) => {
    const { incoming } = c.env;
    const type = (incoming.headers['content-type'] ?? '').toLowerCase();
    const body = await bodyOf(incoming, limits.loginBytes);
    if (type.startsWith('application/json')) parseJson(body, limits.jsonDepth);
    const { login } = deps.services();
    // Asked again: while this body trickled in, others may have used the tries up.
    const waitMs = login.waitMs();
    const cookie = waitMs > 0 ? null : login.signIn(codeOf(body, type), deps.admissionOf(incoming).host);
    deps.log.info('http.sign_in', { ok: cookie !== null });
    const byForm = type.startsWith('application/x-www-form-urlencoded');
    if (cookie !== null)
      return toResponse(byForm ? redirect('/', { 'set-cookie': cookie }) : json(200, { signedIn: true }, { 'set-cookie': cookie }));
    const refused = waitMs > 0 ? tooMany(waitMs / 1000) : new AppError('UNAUTHORIZED');
    return toResponse(byForm ? signInReply(noticeOf(refused, clock), {}) : errorReply(refused, { headers: headersOf(refused) }));
  });

  app.post('/rpc/*', async (c) => {
    const { incoming } = c.env;
    const text = await bodyOf(incoming, limits.jsonBytes);
    // One level is the envelope's.
    parseJson(text, limits.jsonDepth + 1);
    const request = new Request(`http://sotto${incoming.url?.split('?', 1)[0] ?? '/'}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: text,
      signal: c.req.raw.signal,
    });
    const guest = { caller: deps.admissionOf(incoming).caller, isPage: false, room: () => Promise.resolve() };
    const answer = await deps.services().rpc.answer(request, guest);
    const headers = new Headers(answer.headers);
    for (const [name, value] of Object.entries(commonHeaders)) headers.set(name, value);
    return new Response(answer.body, { status: answer.status, headers });
  });

  app.get('/*', async (c) => {
    const file = await deps.services().files.read(deps.admissionOf(c.env.incoming).route.path);
    return toResponse(file ?? errorReply(new AppError('NOT_FOUND')));
  });

  app.onError((thrown) => {
    const error = toAppError(thrown);
    if (error.code === 'INTERNAL') deps.log.error('http.failed', { incident: String(error.data.incident) }, thrown);
    return toResponse(errorReply(error, { headers: headersOf(error) }));
  });
  return app;
}

export function tooMany(seconds: number): AppError {
  return new AppError('TOO_MANY_REQUESTS', { retryAfterSeconds: Math.max(1, Math.ceil(seconds)) });
}

export function headersOf(error: AppError): Readonly<Record<string, string>> {
  if (error.code === 'UNAUTHORIZED') return { 'www-authenticate': 'Bearer' };
  if (error.code === 'TOO_MANY_REQUESTS') return { 'retry-after': String(error.data.retryAfterSeconds) };
  return {};
}

/** What the sign-in form says of a refusal. `first` = the person has only just come. */
export function noticeOf(error: AppError, clock: Clock, first = false): SignInNotice {
  if (error.code !== 'TOO_MANY_REQUESTS') return { kind: first ? 'first' : 'wrong' };
  const seconds = Number(error.data.retryAfterSeconds);
  return { kind: 'wait', seconds, at: clockTime(clock.nowMs() + seconds * 1000) };
}

/** A refusal of `/` as the page that a person sees; other routes get the error body. */
export function signInInstead(path: string, form: boolean, error: AppError, clock: Clock): Reply | null {
  if (error.code !== 'UNAUTHORIZED' && error.code !== 'TOO_MANY_REQUESTS') return null;
  const isPage = path === '/' || (path === '/login' && (form || error.code === 'UNAUTHORIZED'));
  return isPage ? signInReply(noticeOf(error, clock, true), headersOf(error)) : null;
}

/** Hours, minutes and seconds of this machine's time zone, which is the reader's on loopback. */
function clockTime(ms: number): string {
  const local = ms - new Date(ms).getTimezoneOffset() * 60_000;
  return timestamp(local).slice(11, 19);
}
