import { z } from 'zod';

/** `app` bodies between runtime and engine. One call has one `id`, many `chunk`s and exactly one `result` or `error`. */
export const EngineRequest = z.discriminatedUnion('t', [
  z.strictObject({ t: z.literal('call'), id: z.int(), method: z.string(), params: z.unknown() }),
  z.strictObject({ t: z.literal('cancel'), id: z.int() }),
]);
export type EngineRequest = z.infer<typeof EngineRequest>;

export const EngineReply = z.discriminatedUnion('t', [
  z.strictObject({ t: z.literal('chunk'), id: z.int(), data: z.unknown() }),
  z.strictObject({ t: z.literal('result'), id: z.int(), data: z.unknown() }),
  z.strictObject({
    t: z.literal('error'),
    id: z.int(),
    error: z.strictObject({ code: z.string(), message: z.string(), data: z.record(z.string(), z.unknown()) }),
  }),
  z.strictObject({
    t: z.literal('log'),
    level: z.enum(['info', 'warn', 'error']),
    event: z.string(),
    fields: z.record(z.string(), z.unknown()),
  }),
]);
export type EngineReply = z.infer<typeof EngineReply>;
