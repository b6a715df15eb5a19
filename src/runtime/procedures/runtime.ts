import { implement } from '@orpc/server';
import { contract } from '../../shared/contract/index.ts';
import type { RuntimeHealth } from '../../shared/contract/runtime.ts';
import type { LiveValue } from '../../shared/util/liveValue.ts';

export const runtimeProcedures = (s: { health: LiveValue<RuntimeHealth> }) => {
  const os = implement(contract.runtime);
  return os.router({
    health: os.health.handler(({ signal }) => s.health.watch(signal)),
  });
};
