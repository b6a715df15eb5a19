import { createStore, type StoreApi } from 'zustand/vanilla';
import type { AppError } from '../../shared/errors/appError.ts';
import { toAppError } from '../../shared/errors/appError.ts';
import type { Clock } from '../../shared/util/clock.ts';
import type { Snapshot } from '../../shared/util/liveValue.ts';
import type { Api, Connection } from './connection.ts';

/** A mirror of a live value. `fresh` is false while the connection is lost: then `value` is what was last true. */
export type Live<T> = { readonly value: T | null; readonly fresh: boolean; readonly error: AppError | null };

/**
 * Follows a live value as long as the page lives and subscribes again after every loss.
 *
 * @param subscribe  the call whose items are whole snapshots; a snapshot with a revision that did not rise is dropped.
 */
export function createLive<T>(
  deps: { connection: Connection; clock: Clock; signal: AbortSignal },
  subscribe: (api: Api, options: { signal: AbortSignal }) => Promise<AsyncIterable<Snapshot<T>>>,
): StoreApi<Live<T>> {
  const store = createStore<Live<T>>(() => ({ value: null, fresh: false, error: null }));
  const follow = async () => {
    while (!deps.signal.aborted) {
      await deps.connection.whenOpen(deps.signal);
      let revision = 0;
      try {
        for await (const item of await subscribe(deps.connection.api, { signal: deps.signal })) {
          if (item.revision <= revision) continue;
          revision = item.revision;
          store.setState({ value: item.value, fresh: true, error: null }, true);
        }
        store.setState({ fresh: false });
      } catch (thrown) {
        const error = toAppError(thrown);
        store.setState({ fresh: false, error: error.code === 'RUNTIME_UNAVAILABLE' || error.code === 'CANCELLED' ? null : error });
      }
      await new Promise<void>((resolve) => {
        const takeBack = deps.clock.setTimer(retryMs, resolve);
        deps.signal.addEventListener('abort', () => (takeBack(), resolve()), { once: true });
      });
    }
  };
  // Ends only by the signal: whenOpen rejects then, and there is nobody left to tell.
  void follow().catch(() => undefined);
  return store;
}

/** A broken subscription is not asked for more often than this, also while the link itself is fine. */
const retryMs = 500;
