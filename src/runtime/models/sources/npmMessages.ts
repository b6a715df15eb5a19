import { z } from 'zod';

/** Runtime → child: what to fetch. Paths are absolute. `nodePath` tells where the person's own npm configuration may lie. */
export const NpmOrder = z.strictObject({
  k: z.literal('fetch'),
  name: z.string(),
  version: z.string(),
  file: z.string(),
  tmp: z.string(),
  nodePath: z.string(),
});
export type NpmOrder = z.infer<typeof NpmOrder>;

/** Runtime → child: the answer of the door to an `ask`. */
export const DoorReply = z.strictObject({ k: z.literal('door'), n: z.int(), open: z.boolean() });
export type DoorReply = z.infer<typeof DoorReply>;

export const ToNpm = z.discriminatedUnion('k', [NpmOrder, DoorReply]);

/** Child → runtime. A socket opens only after its `ask` was answered; `closed` tells what went over it. */
export const FromNpm = z.discriminatedUnion('k', [
  z.strictObject({ k: z.literal('ask'), n: z.int(), host: z.string().max(255), port: z.int().min(0).max(65_535) }),
  z.strictObject({ k: z.literal('closed'), n: z.int(), ok: z.boolean(), sent: z.int().min(0), received: z.int().min(0) }),
]);
export type FromNpm = z.infer<typeof FromNpm>;
