import { ORPCError } from '@orpc/client';
import type { AnyRouter } from '@orpc/server';
import { RPCHandler as FrameHandler } from '@orpc/server/bun-ws';
import { RPCHandler as FetchHandler } from '@orpc/server/fetch';
import type { StandardHandleResult, StandardHandlerInterceptorOptions } from '@orpc/server/standard';
import { AppError } from '../../shared/errors/appError.ts';
import { codes } from '../../shared/errors/codes.ts';
import type { Caller } from '../store/keys.ts';
import type { HttpLimits } from './limits.ts';

/** What a call is made with. Who calls follows from the connection, never from the input. */
export type CallContext = {
  readonly caller: Caller | null;
  /** Resolves when the reader has room again; streams wait for it, so that a slow reader never fills our memory. */
  readonly room: () => Promise<void>;
};

export type Rpc = {
  readonly frames: FrameHandler<CallContext>;
  readonly fetch: FetchHandler<CallContext>;
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

/**
 * One router behind both ways to call it, with the caps of section 3.
 *
 * @param router  the procedures; errors are mapped inside it.
 */
export function createRpc(router: AnyRouter, limits: HttpLimits): Rpc {
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

  async function capped(
    options: StandardHandlerInterceptorOptions<CallContext> & { next(): Promise<StandardHandleResult> },
  ): Promise<StandardHandleResult> {
    if (counts.stopped) throw rpcError(new AppError('SHUTTING_DOWN'));
    if (counts.calls >= limits.requestsAtWork) throw rpcError(new AppError('TOO_MANY_REQUESTS', { retryAfterSeconds: 1 }));
    counts.calls++;
    try {
      const result = await options.next();
      const body = result.response?.body;
      if (!result.matched || !isStream(body)) return result;
      const close = openStream(options.context.caller?.keyId ?? 'open', options.request.signal);
      if (close === null) {
        await body.return?.();
        throw rpcError(new AppError('TOO_MANY_REQUESTS', { retryAfterSeconds: 5 }));
      }
      return { ...result, response: { ...result.response, body: paced(body, options.context.room, close) } };
    } finally {
      counts.calls--;
      if (counts.calls === 0) {
        for (const wake of waiting) wake();
        waiting = [];
      }
    }
  }

  const options = { interceptors: [capped] };
  return {
    // The adapter that takes messages one by one from any socket; its name is that of the first one.
    frames: new FrameHandler(router, options),
    fetch: new FetchHandler(router, options),
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

/** An AppError as the typed client reads it. */
export function rpcError(error: AppError): ORPCError<string, unknown> {
  return new ORPCError(error.code, { defined: true, status: codes[error.code].status, message: error.message, data: error.data });
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
