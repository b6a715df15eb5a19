import { z } from 'zod';

/**
 * What travels between a supervisor and its child. `generation` is the one that the parent gave in `hello`; a frame of another
 * generation is stale and dropped. `body` belongs to the protocol above (engine contract, port relay).
 */
export const ParentFrame = z.discriminatedUnion('k', [
  z.strictObject({ k: z.literal('hello'), generation: z.int() }),
  z.strictObject({ k: z.literal('ping'), generation: z.int(), n: z.int() }),
  z.strictObject({ k: z.literal('stop'), generation: z.int() }),
  z.strictObject({ k: z.literal('app'), generation: z.int(), body: z.unknown() }),
]);
export type ParentFrame = z.infer<typeof ParentFrame>;

export const ChildFrame = z.discriminatedUnion('k', [
  z.strictObject({ k: z.literal('ready'), generation: z.int() }),
  z.strictObject({ k: z.literal('pong'), generation: z.int(), n: z.int() }),
  /** A native call holds the child's thread: pings do not count until `idle`. */
  z.strictObject({ k: z.literal('busy'), generation: z.int(), label: z.string() }),
  z.strictObject({ k: z.literal('idle'), generation: z.int() }),
  /** The child could not come up; the reason is a typed error. */
  z.strictObject({
    k: z.literal('failed'),
    generation: z.int(),
    error: z.object({ code: z.string(), message: z.string(), data: z.record(z.string(), z.unknown()) }),
  }),
  /** Sent before an orderly exit: exit code 0 alone proves nothing (an abort in a utilityProcess reports 0). */
  z.strictObject({ k: z.literal('goodbye'), generation: z.int() }),
  z.strictObject({ k: z.literal('app'), generation: z.int(), body: z.unknown() }),
]);
export type ChildFrame = z.infer<typeof ChildFrame>;
