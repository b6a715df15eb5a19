import { z } from 'zod';
import type { EngineReply } from '../contract/frames.ts';

/**
 * Between the engine's main thread and its worker. One job at a time; a cancel is the job's id in shared memory, which a thread in the
 * middle of a native call can still read.
 */
export const WorkerRequest = z.discriminatedUnion('t', [
  z.strictObject({ t: z.literal('job'), id: z.int(), method: z.string(), params: z.unknown() }),
  z.strictObject({ t: z.literal('close') }),
]);
export type WorkerRequest = z.infer<typeof WorkerRequest>;

export type WorkerReply = EngineReply | { readonly t: 'closed' };

const replyKinds: readonly unknown[] = ['chunk', 'result', 'error', 'log', 'closed'];

/**
 * By kind and id only: both ends are one program, the runtime parses the whole again, and a schema here would be a third of what a token's
 * way out costs (P4).
 */
export function isWorkerReply(message: unknown): message is WorkerReply {
  if (typeof message !== 'object' || message === null || !('t' in message) || !replyKinds.includes(message.t)) return false;
  return message.t === 'closed' || message.t === 'log' || ('id' in message && typeof message.id === 'number');
}

/** `cancel[0]` = id of the job that shall end, 0 = none. */
export type WorkerData = { readonly cancel: Int32Array<SharedArrayBuffer> };
