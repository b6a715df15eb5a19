import { ORPCError } from '@orpc/client';
import type { AnyRouter } from '@orpc/server';
import { RPCHandler } from '@orpc/server/fetch';
import type { StandardHandleResult, StandardHandlerInterceptorOptions } from '@orpc/server/standard';
import { z } from 'zod';
import { MuteInput } from '../../shared/contract/voice.ts';
import { AppError } from '../../shared/errors/appError.ts';
import type { Logger } from '../platform/ports.ts';
import { type Refusals, wire } from '../procedures/errorMapping.ts';
import { createConnections, type Wire } from '../procedures/serveConnection.ts';
import type { Caller } from '../store/keys.ts';
import type { HttpLimits } from './limits.ts';

/** Who calls, and how fast they read. It follows from the connection, never from the input. */
export type Guest = {
  readonly caller: Caller | null;
  /** A signed-in page, where a person sits. Without authentication every socket counts as one, and no single call does. */
  readonly isPage: boolean;
  /** Resolves when the reader has room again; streams wait for it, so that a slow reader never fills our memory. */
  readonly room: () => Promise<void>;
};

export type Rpc = {
  /** Serves the calls of one socket until it closes. */
  connect(link: Wire, guest: Guest): void;
  /** Serves `POST /rpc/<procedure>`; null when there is no such procedure. */
  answer(request: Request, guest: Guest): Promise<Response>;
  readonly work: Work;
};

export type Work = {
  /** Calls that run, streams not counted. */
  readonly calls: number;
  readonly streams: number;
  /** False when `requestsAtWork` is reached. */
  hasRoom(): boolean;
  /** From now on every new call is SHUTTING_DOWN. */
  stop(): void;
  /** Resolves when the last call has ended. */
  idle(): Promise<void>;
};

/** One router behind both ways to call it, with the caps of section 3. */
export function createRpc(deps: { router: AnyRouter; refusals: Refusals; log: Logger; limits: HttpLimits }): Rpc {
  const { limits, refusals } = deps;
  const guests = new WeakMap<Wire, Guest>();
  const counts = { calls: 0, streams: 0, stopped: false };
  const streamsOf = new Map<string, number>();
  let waiting: (() => void)[] = [];

  function openStream(key: string, signal: AbortSignal | undefined): (() => void) | null {
    const own = streamsOf.get(key) ?? 0;
    if (counts.streams >= limits.streams || own >= limits.streamsPerKey) return null;
    counts.streams++;
    streamsOf.set(key, own + 1);
    let open = true;
    const close = () => {
      if (!open) return;
      open = false;
      counts.streams--;
      const left = (streamsOf.get(key) ?? 1) - 1;
      if (left === 0) streamsOf.delete(key);
      else streamsOf.set(key, left);
    };
    // The connection may go while nobody asks for the next item.
    signal?.addEventListener('abort', close, { once: true });
    if (signal?.aborted) close();
    return close;
  }

  function refuse(
    code: 'SHUTTING_DOWN' | 'TOO_MANY_REQUESTS' | 'UNKNOWN_PROCEDURE' | 'INVALID_INPUT' | 'USER_ONLY',
    data: Record<string, unknown> = {},
  ) {
    refusals.count(code);
    return wire(new AppError(code, data));
  }

  async function capped(
    guest: Guest,
    request: StandardLazyRequest,
    next: () => Promise<StandardHandleResult>,
  ): Promise<StandardHandleResult> {
    const { signal } = request;
    if (counts.stopped) throw refuse('SHUTTING_DOWN');
    if (!guest.isPage && (await liftsMute(request))) throw refuse('USER_ONLY');
    if (counts.calls >= limits.requestsAtWork) throw refuse('TOO_MANY_REQUESTS', { retryAfterSeconds: 1 });
    counts.calls++;
    try {
      const result = await next();
      const body = result.response?.body;
      if (!result.matched || !isStream(body)) return result;
      const close = openStream(guest.caller?.keyId ?? 'open', signal);
      if (close === null) {
        await body.return?.();
        throw refuse('TOO_MANY_REQUESTS', { retryAfterSeconds: 5 });
      }
      return { ...result, response: { ...result.response, body: paced(body, guest.room, close) } };
    } finally {
      counts.calls--;
      if (counts.calls === 0) {
        for (const wake of waiting) wake();
        waiting = [];
      }
    }
  }

  const nobody: Guest = { caller: null, isPage: false, room: () => Promise.resolve() };
  const connect = createConnections({
    router: deps.router,
    refusals,
    log: deps.log,
    around: (call) => capped(guests.get(call.context.connection.link) ?? nobody, call.request, () => call.next()),
  });
  const handler = new RPCHandler<{ guest: Guest }>(deps.router, {
    interceptors: [
      (call) => capped(call.context.guest, call.request, () => call.next()),
      async (call) => {
        try {
          const result = await call.next();
          if (!result.matched) throw refuse('UNKNOWN_PROCEDURE');
          return result;
        } catch (error) {
          // Errors of the call itself were answered inside; what is left is a body that has not the shape of a call.
          throw error instanceof ORPCError ? error : refuse('INVALID_INPUT', { field: 'body', reason: 'type' });
        }
      },
    ],
  });

  return {
    connect(link, guest) {
      guests.set(link, guest);
      connect(link);
    },
    async answer(request, guest) {
      const { response } = await handler.handle(request, { prefix: '/rpc', context: { guest } });
      return response ?? Response.json(wire(new AppError('UNKNOWN_PROCEDURE')).toJSON(), { status: 404 });
    },
    work: {
      get calls() {
        return counts.calls;
      },
      get streams() {
        return counts.streams;
      },
      hasRoom: () => counts.calls < limits.requestsAtWork,
      stop: () => {
        counts.stopped = true;
      },
      idle: () => (counts.calls === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    },
  };
}

type StandardLazyRequest = StandardHandlerInterceptorOptions<object>['request'];

/** A call on the wire. What stands beside `json` makes dates and the like of texts, and never a boolean. */
const Sent = z.object({ json: z.unknown() });

/** A call of `voice.mute` that lifts it. What is no call of it at all goes on: its own schema, which is used here too, refuses it. */
async function liftsMute({ url, body }: StandardLazyRequest): Promise<boolean> {
  // One slash more at the end is the same call to oRPC.
  if (!/\/voice\/mute\/?$/.test(url.pathname)) return false;
  const sent = Sent.safeParse(await body());
  if (!sent.success) return true;
  const input = MuteInput.safeParse(sent.data.json);
  return input.success && !input.data.muted;
}

type Stream = AsyncIterableIterator<unknown>;

function isStream(value: unknown): value is Stream {
  return (
    typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value && typeof value.next === 'function'
  );
}

/** The same stream, which waits for room before each item and tells its end once. */
function paced(stream: Stream, room: () => Promise<void>, close: () => void): Stream {
  const paced: Stream = {
    async next() {
      try {
        await room();
        const item = await stream.next();
        if (item.done) close();
        return item;
      } catch (error) {
        close();
        throw error;
      }
    },
    async return(value?: unknown) {
      close();
      return (await stream.return?.(value)) ?? { done: true, value };
    },
    [Symbol.asyncIterator]: () => paced,
  };
  return paced;
}
