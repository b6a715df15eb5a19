import { z } from 'zod';
import { maxChunkBytes } from '../util/audioWire.ts';
import { lineData } from './lineData.ts';
import { maxPortMessageCharacters, type PortPurpose } from './pageLink.ts';

/**
 * Bodies of `app` frames between main and the runtime, about the pages' ports. Where main can transfer a port (a utilityProcess) only
 * `port` is sent, with the port beside it. To a plain Node child main relays: `port.data` in both directions. What the other side
 * of a utilityProcess asks besides is in `supervision/electronEngine.ts`.
 */
const PortId = z.int().min(1);
/** oRPC writes text, a voice line both; which of them a port takes its purpose says (`portData`). */
const PortData = z.union([
  z.string().max(maxPortMessageCharacters),
  z.instanceof(Uint8Array).refine(({ byteLength }) => byteLength <= maxChunkBytes),
]);

export const PortFrame = z.discriminatedUnion('k', [
  z.strictObject({ k: z.literal('port'), id: PortId, purpose: z.enum(['calls', 'voice']) }),
  z.strictObject({ k: z.literal('port.data'), id: PortId, data: PortData }),
  z.strictObject({ k: z.literal('port.close'), id: PortId }),
]);
export type PortFrame = z.infer<typeof PortFrame>;

/** At most this many pages at once, their voice lines counted. */
export const maxPorts = 16;

/** What may cross a port of this purpose, bytes as the caller's own; null for what ends the port (RB-03). */
export function portData(purpose: PortPurpose, way: 'up' | 'down', data: unknown): string | Uint8Array<ArrayBuffer> | null {
  if (purpose === 'voice') return lineData(way, data);
  return typeof data === 'string' && data.length <= maxPortMessageCharacters ? data : null;
}

/**
 * The microphone, which main alone opens to its pages (PV-09): what the runtime asks, and the one answer. One lease at a time; it ends
 * with `mic.release`, with a mute and with the runtime.
 */
export const MicAsk = z.discriminatedUnion('k', [
  z.strictObject({ k: z.literal('mic.grant'), n: z.int().min(1) }),
  z.strictObject({ k: z.literal('mic.release') }),
  z.strictObject({ k: z.literal('mic.mute'), muted: z.boolean() }),
]);
export type MicAsk = z.infer<typeof MicAsk>;

/** `refusal`: null = granted; `denied` by the system or its person; `released` = taken back before the system had answered. */
export const MicAnswer = z.strictObject({
  k: z.literal('mic.granted'),
  n: z.int().min(1),
  refusal: z.enum(['denied', 'muted', 'released']).nullable(),
});
export type MicAnswer = z.infer<typeof MicAnswer>;
