import { type ClientContext, type ClientLink, createORPCClient } from '@orpc/client';
import type { ContractRouterClient } from '@orpc/contract';
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Contract } from '../../shared/contract/index.ts';
import type { DamageChoice } from '../../shared/contract/pageLink.ts';
import { AppError, toAppError } from '../../shared/errors/appError.ts';
import type { Clock } from '../../shared/util/clock.ts';
import type { Link, Transport } from './transport.ts';

export type Api = ContractRouterClient<Contract>;

/** What is true of the way to the runtime. `failed` needs a person; `lost` mends itself. */
export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open'; readonly number: number }
  | { readonly kind: 'lost'; readonly attempt: number }
  | { readonly kind: 'failed'; readonly error: AppError }
  | { readonly kind: 'signedOut' }
  | { readonly kind: 'closed' };

export type Connection = {
  readonly api: Api;
  readonly state: StoreApi<ConnectionState>;
  /** Resolves when calls have a chance; rejects only when `signal` ends or the connection is closed for good. */
  whenOpen(signal: AbortSignal): Promise<void>;
  /**
   * Tries again at once: after a failure that a person cured, or in the middle of a back-off.
   *
   * @param damaged  what a person chose for chats that cannot be read; for this try alone.
   */
  retry(damaged?: DamageChoice): void;
  close(): void;
};

/** Back-off of the next tries: at once, then doubling; a person who waits never waits longer than this. */
const backOffMs = [0, 250, 500, 1000, 2000, 4000] as const;

/** Codes of a start that tries alone cannot cure. */
const needsPerson: readonly string[] = [
  'DATA_DIR_IN_USE',
  'DB_FROM_FUTURE',
  'DB_DAMAGED',
  'STORE_FULL',
  'STORE_READ_ONLY',
  'STORE_IO',
  'RUNTIME_UNAVAILABLE',
  'NATIVE_LIBRARY_MISSING',
  'INTERNAL',
  'FORBIDDEN_SENDER',
];

/**
 * Keeps one link to the runtime open, as long as the page lives. A call made before the first link waits for it; a call made while the
 * link is lost fails at once with RUNTIME_UNAVAILABLE. No call is ever repeated from here: only the caller knows whether it may be.
 */
export function createConnection(deps: { transport: Transport; clock: Clock }): Connection {
  const state = createStore<ConnectionState>(() => ({ kind: 'connecting' }));
  const ended = new AbortController();
  let current: Link | null = null;
  let opened = 0;
  let wake: (() => void) | null = null;
  let choice: DamageChoice | undefined;

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const takeBack = deps.clock.setTimer(ms, resolve);
      wake = () => {
        takeBack();
        resolve();
      };
      if (ended.signal.aborted) wake();
    });

  const run = async () => {
    let attempt = 0;
    while (!ended.signal.aborted) {
      try {
        const damaged = choice;
        choice = undefined;
        current = await deps.transport.open(ended.signal, damaged);
        opened += 1;
        attempt = 0;
        state.setState({ kind: 'open', number: opened }, true);
        const { signedOut } = await current.closed;
        current = null;
        if (signedOut) throw new AppError('UNAUTHORIZED');
        state.setState({ kind: 'lost', attempt: 0 }, true);
      } catch (thrown) {
        current = null;
        if (ended.signal.aborted) break;
        const error = toAppError(thrown);
        if (error.code === 'UNAUTHORIZED') state.setState({ kind: 'signedOut' }, true);
        else if (deps.transport.kind === 'app' && needsPerson.includes(error.code)) state.setState({ kind: 'failed', error }, true);
        else state.setState({ kind: 'lost', attempt }, true);
      }
      const { kind } = state.getState();
      if (kind === 'failed' || kind === 'signedOut') {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        if (!ended.signal.aborted) state.setState({ kind: 'connecting' }, true);
      } else {
        await sleep(backOffMs[Math.min(attempt, backOffMs.length - 1)] ?? 4000);
      }
      attempt += 1;
    }
    state.setState({ kind: 'closed' }, true);
  };
  void run();

  const settled = (signal: AbortSignal, accept: (kind: ConnectionState['kind']) => boolean) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        const { kind } = state.getState();
        if (signal.aborted || kind === 'closed') done(() => reject(new AppError('CANCELLED')));
        else if (accept(kind)) done(resolve);
      };
      const unsubscribe = state.subscribe(check);
      const done = (finish: () => void) => {
        unsubscribe();
        signal.removeEventListener('abort', check);
        finish();
      };
      signal.addEventListener('abort', check, { once: true });
      check();
    });

  const link: ClientLink<ClientContext> = {
    async call(path, input, options) {
      const signal = options.signal ?? ended.signal;
      await settled(signal, (kind) => kind !== 'connecting');
      if (current === null) throw new AppError('RUNTIME_UNAVAILABLE');
      return current.link.call(path, input, options);
    },
  };

  return {
    api: createORPCClient<Api>(link),
    state,
    whenOpen: (signal) => settled(signal, (kind) => kind === 'open'),
    retry(damaged) {
      choice = damaged;
      wake?.();
    },
    close() {
      ended.abort();
      current?.close();
      wake?.();
    },
  };
}
