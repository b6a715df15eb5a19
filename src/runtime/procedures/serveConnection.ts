import { ORPCError } from '@orpc/client';
import { StandardRPCJsonSerializer } from '@orpc/client/standard';
import type { AnyRouter } from '@orpc/server';
import type { StandardHandleResult, StandardHandlerInterceptorOptions } from '@orpc/server/standard';
import { RPCHandler } from '@orpc/server/websocket';
import { z } from 'zod';
import { AppError } from '../../shared/errors/appError.ts';
import type { Logger } from '../platform/ports.ts';
import { type Refusals, wire } from './errorMapping.ts';

/** One caller's wire, whatever carries it: a MessagePort, a child's channel, a WebSocket, memory. Texts go both ways, in order. */
export type Wire = {
  send(text: string): void;
  onMessage(listener: (message: unknown) => void): void;
  onClose(listener: () => void): void;
};

export const connectionLimits = {
  /** A message of 1 MB of text may need several times that when it is all escapes; far more is refused unread. */
  messageCharacters: 64 * 1024 * 1024,
  /** Calls of one connection that have not been answered; open streams do not count. */
  callsAtOnce: 256,
} as const;

/** What oRPC's peer sends up: a request, a piece of a stream, or an abort. Nothing in the contract streams up yet. */
const Request = z.object({
  i: z.string().max(64),
  t: z.union([z.literal(1), z.literal(4)]).optional(),
  p: z
    .object({ u: z.string(), m: z.string().max(16).optional(), h: z.record(z.string(), z.unknown()).optional(), b: z.unknown() })
    .optional(),
});

/**
 * Serves the router on connections. It stands between the wire and oRPC, since a frame that is no frame must cost neither the process
 * (oRPC lets the error go uncaught) nor a line in the log that quotes it, and must not leave its caller waiting (RB-01, RB-03).
 *
 * @returns a function that serves one more connection until it closes; closing aborts the calls that it began.
 */
export function createConnections(deps: {
  router: AnyRouter;
  refusals: Refusals;
  log: Logger;
  /** Runs around every call, before anything of it is read; what it throws must be an ORPCError (the caps of `serve`). */
  around?: (call: ConnectionCall) => Promise<StandardHandleResult>;
}): (wire: Wire) => void {
  const { refusals, log } = deps;
  const serializer = new StandardRPCJsonSerializer();
  const handler = new RPCHandler<ConnectionContext>(deps.router, {
    interceptors: [
      (options) => deps.around?.(options) ?? options.next(),
      async (options) => {
        const { connection } = options.context;
        if (connection.calls >= connectionLimits.callsAtOnce) return refusal('TOO_MANY_REQUESTS', { retryAfterSeconds: 1 });
        connection.calls += 1;
        try {
          const result = await options.next();
          return result.matched ? result : refusal('UNKNOWN_PROCEDURE', {});
        } catch (error) {
          // Errors of the call itself pass here in their wire form; what else comes is a body that could not be read.
          if (error instanceof ORPCError) throw error;
          log.warn('rpc.unreadable', { name: error instanceof Error ? error.name : typeof error });
          return refusal('INVALID_INPUT', { field: '', reason: 'not_json' });
        } finally {
          connection.calls -= 1;
        }
      },
    ],
  });

  function refusal(code: 'UNKNOWN_PROCEDURE' | 'INVALID_INPUT' | 'TOO_MANY_REQUESTS', data: Record<string, unknown>) {
    refusals.count(code);
    const error = wire(new AppError(code, data));
    const [json, meta] = serializer.serialize(error.toJSON());
    return { matched: true as const, response: { status: error.status, headers: {}, body: { json, meta } } };
  }

  return (link) => {
    const connection = { calls: 0, link };
    let closed = false;
    const send = (text: string) => {
      if (!closed) link.send(text);
    };
    // Of a WebSocket oRPC's peer uses `send` alone.
    const socket = { send, addEventListener() {} };
    link.onClose(() => {
      closed = true;
      handler.close(socket);
    });
    link.onMessage((message) => {
      if (closed) return;
      const frame = readFrame(message);
      if (frame.fault === null) {
        handler.message(socket, frame.text, { context: { connection } }).catch((error: unknown) => log.error('rpc.connection', {}, error));
        return;
      }
      const { response } = refusal('INVALID_INPUT', { field: '', reason: frame.fault });
      if (frame.id !== null) send(JSON.stringify({ i: frame.id, p: { s: response.status, b: response.body } }));
    });
  };
}

type ConnectionContext = { connection: { calls: number; readonly link: Wire } };

/** A call of a connection, before it ran. `context.connection.link` is the wire that it came by. */
export type ConnectionCall = StandardHandlerInterceptorOptions<ConnectionContext> & { next(): Promise<StandardHandleResult> };

type Frame =
  | { readonly fault: null; readonly text: string }
  | { readonly fault: 'not_json' | 'range' | 'type'; readonly id: string | null };

/** A frame that oRPC can take, or why not and whom to tell. */
function readFrame(message: unknown): Frame {
  if (typeof message !== 'string') return { fault: 'type', id: null };
  if (message.length > connectionLimits.messageCharacters) return { fault: 'range', id: null };
  let json: unknown;
  try {
    json = JSON.parse(message);
  } catch {
    return { fault: 'not_json', id: null };
  }
  const id = typeof json === 'object' && json !== null && 'i' in json && typeof json.i === 'string' && json.i.length <= 64 ? json.i : null;
  const request = Request.safeParse(json);
  if (!request.success) return { fault: 'type', id };
  if (request.data.t === 4) return { fault: null, text: message };
  const { p } = request.data;
  // Only plain calls: a path of our own, POST, no headers (they would make oRPC read the body as a file, a form or a stream).
  const plain =
    p !== undefined && /^\/[\x21-\x7e]*$/.test(p.u) && p.m === undefined && (p.h === undefined || Object.keys(p.h).length === 0);
  return plain ? { fault: null, text: message } : { fault: 'type', id };
}
