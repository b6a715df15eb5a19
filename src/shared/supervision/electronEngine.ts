import { z } from 'zod';

/**
 * Between a runtime in a utilityProcess and main, over `process.parentPort`: only main can fork a utilityProcess, so the runtime asks it
 * for an engine. `engine.started` carries one port, straight to the engine; frames never pass through main. The exit event is
 * the truth about the engine's life.
 */
const Id = z.int().min(1);

export const EngineAsk = z.discriminatedUnion('k', [
  z.strictObject({
    k: z.literal('engine.start'),
    id: Id,
    spec: z.strictObject({
      name: z.string().max(64),
      entry: z.literal('engine'),
      args: z.array(z.string().max(256)).max(16),
      env: z.record(z.string(), z.string()),
    }),
  }),
  z.strictObject({ k: z.literal('engine.kill'), id: Id }),
]);
export type EngineAsk = z.infer<typeof EngineAsk>;

export const EngineNews = z.discriminatedUnion('k', [
  /** The port is `event.ports[0]`. */
  z.strictObject({ k: z.literal('engine.started'), id: Id, pid: z.int().nullable() }),
  /** Also when it could not be started. */
  z.strictObject({ k: z.literal('engine.exit'), id: Id, code: z.int().nullable() }),
]);
export type EngineNews = z.infer<typeof EngineNews>;
