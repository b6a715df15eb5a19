import { z } from 'zod';
import { EngineReply } from '../contract/frames.ts';

/**
 * Between the engine's main thread and its worker. One job at a time; a cancel is the job's id in shared memory, which a thread in the
 * middle of a native call can still read.
 */
export const WorkerRequest = z.discriminatedUnion('t', [
  z.strictObject({ t: z.literal('job'), id: z.int(), method: z.string(), params: z.unknown() }),
  z.strictObject({ t: z.literal('close') }),
]);
export type WorkerRequest = z.infer<typeof WorkerRequest>;

export const WorkerReply = z.union([EngineReply, z.strictObject({ t: z.literal('closed') })]);
export type WorkerReply = z.infer<typeof WorkerReply>;

/** `cancel[0]` = id of the job that shall end, 0 = none. */
export type WorkerData = { readonly cancel: Int32Array<SharedArrayBuffer> };
