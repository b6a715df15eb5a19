import { AppError } from '../../shared/errors/appError.ts';

/** Lets one through at a time; a bounded number waits in order. */
export type Turnstile = {
  /**
   * Waits for its turn.
   *
   * @returns a function that gives the turn back; calling it twice is harmless.
   * @throws AppError CANCELLED if aborted while waiting, TOO_MANY_REQUESTS if `maxWaiting` already wait.
   */
  enter(signal?: AbortSignal): Promise<() => void>;
  readonly waiting: number;
};

export function createTurnstile(maxWaiting: number): Turnstile {
  let taken = false;
  const queue: { go: () => void }[] = [];
  const leave = () => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = queue.shift();
      if (next === undefined) taken = false;
      else next.go();
    };
  };
  return {
    enter(signal) {
      if (signal?.aborted) return Promise.reject(new AppError('CANCELLED'));
      if (!taken) {
        taken = true;
        return Promise.resolve(leave());
      }
      if (queue.length >= maxWaiting) return Promise.reject(new AppError('TOO_MANY_REQUESTS', { retryAfterSeconds: 1 }));
      return new Promise((resolve, reject) => {
        const abort = () => {
          queue.splice(queue.indexOf(entry), 1);
          reject(new AppError('CANCELLED'));
        };
        const entry = {
          go: () => {
            signal?.removeEventListener('abort', abort);
            resolve(leave());
          },
        };
        queue.push(entry);
        signal?.addEventListener('abort', abort, { once: true });
      });
    },
    get waiting() {
      return queue.length;
    },
  };
}
