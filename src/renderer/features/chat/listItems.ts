import type { Session } from '../../../shared/domain/session.ts';
import { dayOf } from '../../lib/format.ts';

/** `day` is `today`, `yesterday`, or the words of a date. */
export type ListItem =
  | { readonly kind: 'day'; readonly day: string; readonly key: string }
  | { readonly kind: 'chat'; readonly session: Session; readonly key: string };

/** Chats newest first under the headings of their days, flat, so that ten thousand of them can be a virtual list. */
export function listItems(sessions: readonly Session[], nowMs: number): readonly ListItem[] {
  const items: ListItem[] = [];
  let last: string | null = null;
  for (const session of sessions) {
    const group = dayOf(session.updatedAt, nowMs);
    const day = typeof group === 'string' ? group : group.date;
    if (day !== last) items.push({ kind: 'day', day, key: `day:${day}` });
    last = day;
    items.push({ kind: 'chat', session, key: session.id });
  }
  return items;
}

/** The live newest chats with the older pages behind them, each chat once and in the newer form. */
export function mergeSessions(live: readonly Session[], older: readonly Session[]): readonly Session[] {
  const known = new Set(live.map((s) => s.id));
  return [...live, ...older.filter((s) => !known.has(s.id) && s.trashedAt === null)];
}
