import { z } from 'zod';
import { maxPortMessageCharacters } from './pageLink.ts';

/**
 * Bodies of `app` frames between main and the runtime, about the pages' ports. Where main can transfer a port (a utilityProcess) only
 * `port` is sent, with the port beside it. To a plain Node child main relays: `port.data` in both directions. What the other side
 * of a utilityProcess asks besides is in `supervision/electronEngine.ts`.
 */
const PortId = z.int().min(1);
/** oRPC writes text. */
const PortData = z.string().max(maxPortMessageCharacters);

export const PortFrame = z.discriminatedUnion('k', [
  z.strictObject({ k: z.literal('port'), id: PortId }),
  z.strictObject({ k: z.literal('port.data'), id: PortId, data: PortData }),
  z.strictObject({ k: z.literal('port.close'), id: PortId }),
]);
export type PortFrame = z.infer<typeof PortFrame>;

/** At most this many pages at once. */
export const maxPorts = 16;
