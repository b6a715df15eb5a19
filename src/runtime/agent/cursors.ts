import { z } from 'zod';
import { AppError } from '../../shared/errors/appError.ts';

/** Raised when the meaning of a cursor changes; cursors of another version are CURSOR_INCOMPATIBLE. */
const version = 1;

const Envelope = z.object({ v: z.int(), k: z.string(), d: z.unknown() });
const Walk = z.strictObject({ s: z.string(), no: z.int(), at: z.int().min(0), pin: z.int().min(0) });
const Place = z.strictObject({ at: z.string().max(40), no: z.int() });

/** A walk over one session's log or messages: where it stands and the sequence it is pinned to (EV-10). `no` tells a recreated session apart. */
export type Walk = z.infer<typeof Walk>;
export type Place = z.infer<typeof Place>;

export const walkCursor = (kind: 'events' | 'history', walk: Walk): string => encode(kind, walk);
export const placeCursor = (kind: 'sessions' | 'trash', place: Place): string => encode(kind, place);

/**
 * @param session  the session that is asked for now; its log ends at `lastSequence`.
 * @throws AppError CURSOR_MALFORMED, CURSOR_INCOMPATIBLE (another version or another list), CURSOR_CROSS_SESSION, CURSOR_EXPIRED (the
 *   session was erased since, even if one of the same name exists again).
 */
export function readWalk(text: string, kind: 'events' | 'history', session: { id: string; no: number; lastSequence: number }): Walk {
  const parsed = Walk.safeParse(decode(text, kind));
  if (!parsed.success) throw new AppError('CURSOR_MALFORMED');
  const walk = parsed.data;
  if (walk.s !== session.id) throw new AppError('CURSOR_CROSS_SESSION');
  if (walk.no !== session.no || walk.pin > session.lastSequence) throw new AppError('CURSOR_EXPIRED');
  return walk;
}

/** @throws AppError CURSOR_MALFORMED, CURSOR_INCOMPATIBLE. */
export function readPlace(text: string, kind: 'sessions' | 'trash'): Place {
  const parsed = Place.safeParse(decode(text, kind));
  if (!parsed.success) throw new AppError('CURSOR_MALFORMED');
  return parsed.data;
}

function encode(kind: string, data: unknown): string {
  return Buffer.from(JSON.stringify({ v: version, k: kind, d: data })).toString('base64url');
}

function decode(text: string, kind: string): unknown {
  let parsed: z.infer<typeof Envelope>;
  try {
    if (!/^[A-Za-z0-9_-]+$/.test(text)) throw new SyntaxError('not base64url');
    parsed = Envelope.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch (error) {
    throw new AppError('CURSOR_MALFORMED', {}, { cause: error });
  }
  if (parsed.v !== version || parsed.k !== kind) throw new AppError('CURSOR_INCOMPATIBLE');
  return parsed.d;
}
