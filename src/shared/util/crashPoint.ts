/**
 * A place where a crash test may kill this very process (`npm run test:crash`). Without `SOTTO_KILL_AT` in the environment it does
 * nothing. With `SOTTO_KILL_AT=n` the n-th point that is reached ends the process with SIGKILL: no handler, no flush, as in a power
 * cut. `SOTTO_KILL_AT=name:n` counts the points of that name alone. The count lives in the environment, so that this module has no state.
 *
 * @param name  where, e.g. `store.commit`.
 */
export function crashPoint(name: string): void {
  const host = hostProcess();
  const wish = host?.env.SOTTO_KILL_AT;
  if (host === null || wish === undefined || wish === '') return;
  const cut = wish.lastIndexOf(':');
  const only = cut < 0 ? '' : wish.slice(0, cut);
  const left = Number(wish.slice(cut + 1));
  if ((only !== '' && only !== name) || !Number.isInteger(left)) return;
  if (left > 1) {
    host.env.SOTTO_KILL_AT = only === '' ? String(left - 1) : `${only}:${left - 1}`;
    return;
  }
  host.kill(host.pid, 'SIGKILL');
}

type Host = { env: Record<string, string | undefined>; pid: number; kill(pid: number, signal: string): unknown };

/** Node's `process`, where there is one: this folder also runs in a page. */
function hostProcess(): Host | null {
  const value: unknown = Reflect.get(globalThis, 'process');
  return isHost(value) ? value : null;
}

function isHost(value: unknown): value is Host {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof Reflect.get(value, 'env') === 'object' &&
    typeof Reflect.get(value, 'pid') === 'number' &&
    typeof Reflect.get(value, 'kill') === 'function'
  );
}
