import { randomBytes } from 'node:crypto';
import type { EventId } from '../../shared/domain/ids.ts';

const variants = ['8', '9', 'a', 'b'] as const;
/** Hex digits that one id takes. */
const digits = 20;

/**
 * Ids of events, as `newId('event', …)` makes them but cut from a pool of random bytes: an append of a hundred events asks for a hundred
 * ids, and one call into the random source each would cost more than the rest of the append.
 */
export function createEventIds(): (nowMs: number) => EventId {
  let pool = '';
  let at = 0;
  let ofMs = Number.NaN;
  let time = '';
  return (nowMs) => {
    if (at + digits > pool.length) {
      pool = randomBytes((digits / 2) * 256).toString('hex');
      at = 0;
    }
    if (nowMs !== ofMs) {
      ofMs = nowMs;
      time = Math.floor(nowMs).toString(16).padStart(12, '0');
    }
    const variant = variants[pool.charCodeAt(at + 3) & 3] ?? '8';
    const id = `event_${time}7${pool.slice(at, at + 3)}${variant}${pool.slice(at + 4, at + 19)}`;
    at += digits;
    return id as EventId;
  };
}
