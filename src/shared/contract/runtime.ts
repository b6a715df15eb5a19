import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { errors } from './errors.ts';
import { live } from './live.ts';

export const EngineHealth = z.strictObject({
  key: z.string(),
  state: z.enum(['idle', 'starting', 'ready', 'stopping', 'exited', 'broken']),
  restarts: z.int(),
  lastError: z.string().nullable(),
});

export const RuntimeHealth = z.strictObject({
  version: z.string(),
  instance: z.string(),
  startedAt: z.string(),
  node: z.string(),
  store: z.strictObject({ state: z.enum(['ok', 'read-only']), code: z.string().nullable() }),
  engines: z.array(EngineHealth),
  refusals: z.record(z.string(), z.int()),
});
export type RuntimeHealth = z.infer<typeof RuntimeHealth>;

export const runtime = {
  health: oc
    .errors(errors())
    .input(z.strictObject({}))
    .output(eventIterator(live(RuntimeHealth))),
};
