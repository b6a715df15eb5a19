import { z } from 'zod';

/** Prefixes of ids that we make (GE-01). An id is `{prefix}_{32 hex}`, the hex being a UUIDv7 without dashes. */
export type IdPrefix = 'agent' | 'rev' | 'session' | 'turn' | 'msg' | 'event' | 'job' | 'key' | 'req';

const made = (prefix: IdPrefix) => z.string().regex(new RegExp(`^${prefix}_[0-9a-f]{32}$`));

/** A session id may come from the caller, so it is wider than the ones we make. */
export const SessionId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/)
  .brand<'SessionId'>();
export const TurnId = made('turn').brand<'TurnId'>();
export const MessageId = made('msg').brand<'MessageId'>();
export const EventId = made('event').brand<'EventId'>();
export const AgentId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/)
  .brand<'AgentId'>();
export const RevisionId = made('rev').brand<'RevisionId'>();
export const JobId = made('job').brand<'JobId'>();
export const KeyId = made('key').brand<'KeyId'>();
/** Catalogue ids are lower-case slugs: they become folder names. */
export const ModelId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,95}$/)
  .brand<'ModelId'>();

export type SessionId = z.infer<typeof SessionId>;
export type TurnId = z.infer<typeof TurnId>;
export type MessageId = z.infer<typeof MessageId>;
export type EventId = z.infer<typeof EventId>;
export type AgentId = z.infer<typeof AgentId>;
export type RevisionId = z.infer<typeof RevisionId>;
export type JobId = z.infer<typeof JobId>;
export type KeyId = z.infer<typeof KeyId>;
export type ModelId = z.infer<typeof ModelId>;

type MadeIds = {
  agent: AgentId;
  rev: RevisionId;
  session: SessionId;
  turn: TurnId;
  msg: MessageId;
  event: EventId;
  job: JobId;
  key: KeyId;
  req: string;
};

/**
 * A fresh id of the given kind.
 *
 * @param prefix     kind of thing.
 * @param nowMs      wall clock, ms since 1970; the first 48 bits of the id, so that ids sort by time.
 * @param randomness 16 bytes; given in tests only.
 * @source           RFC 9562, section 5.7 (UUID version 7).
 */
export function newId<P extends IdPrefix>(
  prefix: P,
  nowMs: number,
  randomness: Uint8Array = crypto.getRandomValues(new Uint8Array(16)),
): MadeIds[P] {
  const bytes = Uint8Array.from(randomness);
  let rest = Math.floor(nowMs);
  for (let i = 5; i >= 0; i--) {
    bytes[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = [...bytes].map((b) => b.toString(16).padStart(2, '0')).join('');
  return `${prefix}_${hex}` as MadeIds[P];
}
