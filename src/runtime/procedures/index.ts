import { implement } from '@orpc/server';
import { contract } from '../../shared/contract/index.ts';
import type { Logger } from '../platform/ports.ts';
import { errorMiddleware, type Refusals } from './errorMapping.ts';
import { eventsProcedures } from './events.ts';
import { ledgerProcedures } from './ledger.ts';
import { machineProcedures } from './machine.ts';
import { modelsProcedures } from './models.ts';
import { runtimeProcedures } from './runtime.ts';
import { serverProcedures } from './server.ts';
import { sessionsProcedures } from './sessions.ts';
import { settingsProcedures } from './settings.ts';
import { speechProcedures } from './speech.ts';
import { turnsProcedures } from './turns.ts';
import { voiceProcedures } from './voice.ts';

/** What the adapters call: each takes from it what it needs. */
export type Services = Parameters<typeof runtimeProcedures>[0] &
  Parameters<typeof sessionsProcedures>[0] &
  Parameters<typeof turnsProcedures>[0] &
  Parameters<typeof eventsProcedures>[0] &
  Parameters<typeof modelsProcedures>[0] &
  Parameters<typeof machineProcedures>[0] &
  Parameters<typeof ledgerProcedures>[0] &
  Parameters<typeof settingsProcedures>[0] &
  Parameters<typeof serverProcedures>[0] &
  Parameters<typeof speechProcedures>[0] &
  Parameters<typeof voiceProcedures>[0];

/** Every procedure of the contract behind the one error mapping. A missing one does not compile. */
export function createRouter(deps: { services: Services; refusals: Refusals; log: Logger }) {
  const { services } = deps;
  return implement(contract)
    .use(errorMiddleware(deps))
    .router({
      runtime: runtimeProcedures(services),
      sessions: sessionsProcedures(services),
      turns: turnsProcedures(services),
      events: eventsProcedures(services),
      models: modelsProcedures(services),
      machine: machineProcedures(services),
      ledger: ledgerProcedures(services),
      settings: settingsProcedures(services),
      server: serverProcedures(services),
      speech: speechProcedures(services),
      voice: voiceProcedures(services),
    });
}

export type RuntimeRouter = ReturnType<typeof createRouter>;
