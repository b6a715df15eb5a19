/**
 * For one listener of a wire that keeps nothing itself: what comes before it listens waits.
 *
 * @param limit   messages that may wait; one more is a fault of the other side.
 * @param onFull  told of that one.
 */
export function createInbox<T>(limit: number, onFull: () => void): { put(message: T): void; listen(listener: (message: T) => void): void } {
  const early: T[] = [];
  let deliver = (message: T) => {
    if (early.length < limit) early.push(message);
    else onFull();
  };
  return {
    put: (message) => deliver(message),
    listen(listener) {
      deliver = listener;
      for (const message of early.splice(0)) listener(message);
    },
  };
}
