import { createStore, type StoreApi } from 'zustand/vanilla';
import type { SessionId } from '../../shared/domain/ids.ts';
import type { Clock } from '../../shared/util/clock.ts';
import type { Connection } from './connection.ts';
import { openSession, type SessionMirror } from './sessions.ts';

export type Mirrors = {
  readonly open: StoreApi<ReadonlyMap<SessionId, SessionMirror>>;
  /** Opens the mirror of a chat, or shares the one that is open; it closes when the last who asked has let go. */
  acquire(sessionId: SessionId): () => void;
};

export function createMirrors(deps: { connection: Connection; clock: Clock }): Mirrors {
  const open = createStore<ReadonlyMap<SessionId, SessionMirror>>(() => new Map());
  const users = new Map<SessionId, number>();
  return {
    open,
    acquire(sessionId) {
      const count = users.get(sessionId) ?? 0;
      users.set(sessionId, count + 1);
      if (count === 0) open.setState((now) => new Map(now).set(sessionId, openSession(deps, sessionId)), true);
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        const left = (users.get(sessionId) ?? 1) - 1;
        if (left > 0) return void users.set(sessionId, left);
        users.delete(sessionId);
        open.getState().get(sessionId)?.close();
        open.setState((now) => new Map([...now].filter(([id]) => id !== sessionId)), true);
      };
    },
  };
}
