import type { RuntimeHealth } from '../../shared/contract/runtime.ts';
import { timestamp } from '../../shared/domain/time.ts';
import { createLiveValue, type LiveValue } from '../../shared/util/liveValue.ts';
import { createThrottle } from '../../shared/util/throttle.ts';
import { version } from '../../shared/version.ts';
import type { Engines } from '../engines/createEngines.ts';
import type { Clock } from '../platform/ports.ts';
import type { Refusals } from '../procedures/errorMapping.ts';
import type { Store } from '../store/open.ts';

/** Shortest time between two snapshots of health (architecture page, section 4). */
const SNAPSHOT_MS = 100;

/** How this runtime is, gathered from its parts and followed by them. */
export function createHealth(deps: {
  store: Pick<Store, 'state'>;
  engines: Pick<Engines, 'health' | 'onHealth'>;
  refusals: Refusals;
  clock: Clock;
}): { value: LiveValue<RuntimeHealth>; dispose(): void } {
  const { store, engines, refusals, clock } = deps;
  const fixed = {
    version,
    instance: [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
    startedAt: timestamp(clock.nowMs()),
    node: process.versions.node,
  };
  const read = (): RuntimeHealth => ({
    ...fixed,
    store: { ...store.state.get() },
    engines: engines.health(),
    refusals: refusals.snapshot(),
  });
  const value = createLiveValue(read());
  const throttle = createThrottle<void>(clock, SNAPSHOT_MS, () => value.set(read()));
  const changed = () => throttle.push();
  engines.onHealth(changed);
  refusals.onChange(changed);
  const stop = new AbortController();
  const follow = async () => {
    for await (const _ of store.state.watch(stop.signal)) changed();
  };
  // Ends with `stop`; a live value's watch doesn't throw.
  void follow();
  return {
    value,
    dispose() {
      stop.abort();
      throttle.cancel();
      value.close();
    },
  };
}
