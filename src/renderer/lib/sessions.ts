import { createStore, type StoreApi } from 'zustand/vanilla';
import type { SessionId } from '../../shared/domain/ids.ts';
import { type AppError, toAppError } from '../../shared/errors/appError.ts';
import type { Clock } from '../../shared/util/clock.ts';
import type { Connection } from './connection.ts';
import { applyItem, fromHistory, type MirrorState, withOlder } from './sessionMirror.ts';

export type SessionView = {
  readonly state: MirrorState | null;
  /** Why the newest page could not be read; it is asked for again after `reload`. */
  readonly error: AppError | null;
  readonly loadingOlder: boolean;
};

export type SessionMirror = {
  readonly view: StoreApi<SessionView>;
  /** Reads the page before the oldest message shown. */
  older(): Promise<void>;
  reload(): void;
  close(): void;
};

/** A lagged or broken watch is not restarted more often than this. */
const againMs = 300;

/** Mirrors one chat until `close`: newest page, then the events after it; after each loss from the last sequence on. */
export function openSession(deps: { connection: Connection; clock: Clock }, sessionId: SessionId): SessionMirror {
  const { connection, clock } = deps;
  const view = createStore<SessionView>(() => ({ state: null, error: null, loadingOlder: false }));
  const ended = new AbortController();
  let wake: (() => void) | null = null;
  let mustRead = true;
  let round = new AbortController();

  const pause = (ms: number | null) =>
    new Promise<void>((resolve) => {
      const takeBack = ms === null ? () => undefined : clock.setTimer(ms, resolve);
      wake = () => {
        takeBack();
        resolve();
      };
      if (ended.signal.aborted) resolve();
    });

  const again = () => {
    mustRead = true;
    round.abort();
    wake?.();
  };

  const follow = async () => {
    while (!ended.signal.aborted) {
      await connection.whenOpen(ended.signal);
      round = new AbortController();
      const { signal } = round;
      try {
        if (mustRead) {
          const page = await connection.api.turns.history({ sessionId }, { signal });
          view.setState((v) => ({ state: fromHistory(page, v.state), error: null }));
          mustRead = false;
        }
        const after = view.getState().state?.sequence ?? 0;
        const items = await connection.api.events.watch({ sessionId, after }, { signal });
        for await (const item of items) {
          view.setState((v) => (v.state === null ? v : { state: applyItem(v.state, item, clock.monotonicMs()) }));
          if (view.getState().state?.stale) {
            mustRead = true;
            break;
          }
        }
      } catch (thrown) {
        const error = toAppError(thrown);
        if (ended.signal.aborted) return;
        if (error.code !== 'RUNTIME_UNAVAILABLE' && error.code !== 'CANCELLED' && error.code !== 'SHUTTING_DOWN') {
          view.setState({ error });
          mustRead = true;
          await pause(null);
          continue;
        }
      }
      await pause(againMs);
    }
  };
  // Ends by `close` alone; whenOpen rejects then and there is nothing left to do.
  void follow().catch(() => undefined);

  return {
    view,
    async older() {
      const { state, loadingOlder } = view.getState();
      if (state?.olderCursor == null || loadingOlder) return;
      view.setState({ loadingOlder: true });
      try {
        const page = await connection.api.turns.history({ sessionId, cursor: state.olderCursor }, { signal: ended.signal });
        view.setState((v) => ({ state: v.state === null ? null : withOlder(v.state, page), loadingOlder: false }));
      } catch (thrown) {
        view.setState({ loadingOlder: false });
        const error = toAppError(thrown);
        if (error.code.startsWith('CURSOR_')) {
          // The walk's cursor went stale: nothing is lost, it starts again from the newest page.
          view.setState({ state: null });
          again();
        } else if (error.code !== 'CANCELLED') view.setState({ error });
      }
    },
    reload() {
      view.setState({ error: null });
      again();
    },
    close() {
      ended.abort();
      round.abort();
      wake?.();
    },
  };
}
