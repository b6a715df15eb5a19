import path from 'node:path';
import { type DamageChoice, damageVariable } from '../../shared/contract/pageLink.ts';
import { isAppError } from '../../shared/errors/appError.ts';
import type { ProcessSpec, ProcessStarter } from '../../shared/supervision/processStarter.ts';
import { createSupervisor, runtimeFailure, type Session, type Supervisor } from '../../shared/supervision/supervisor.ts';
import type { MainLog } from '../log.ts';
import type { MicrophonePolicy } from '../os/microphone.ts';
import { serveMicrophone } from '../os/microphoneHost.ts';
import { systemClock } from './clock.ts';
import { serveEngines } from './engineHost.ts';
import type { RuntimeForm } from './form.ts';
import { createNodeStarter, createUtilityStarter, noStarter } from './starters.ts';

/** ms. A start may migrate a large database, with a backup first; orderly quit waits 5 s (RE-09). */
const limits = { startMs: 120_000, stopWaitMs: 5_000 } as const;

/** As many as the breaker allows; one that says goodbye at once does not count there. */
const starts = 3;

export type RuntimeProcess = {
  /** Main passes each message of a port on, since a plain Node child cannot take ports. */
  readonly relay: boolean;
  /**
   * The ready runtime; starts it when there is none.
   *
   * @param damaged  what a person chose for chats that cannot be read; for this start alone.
   * @throws AppError RUNTIME_UNAVAILABLE, or what the runtime itself said at its start (DATA_DIR_IN_USE, DB_FROM_FUTURE …).
   */
  session(damaged?: DamageChoice): Promise<Session>;
  /** A person asked to try again: earlier failures do not count. */
  forgive(): void;
  /** Asks it to stop, waits, kills. Nothing starts afterwards. */
  dispose(): Promise<void>;
};

/**
 * The one runtime of this app, under the supervisor that it uses itself for its engines.
 *
 * @param out         the built files.
 * @param env         the whole environment of the runtime.
 * @param microphone  what the runtime opens and closes to the pages, and how the system is asked before.
 */
export function createRuntimeProcess(deps: {
  form: RuntimeForm;
  out: string;
  env: Readonly<Record<string, string>>;
  microphone: { policy: MicrophonePolicy; askSystem: () => Promise<boolean> };
  log: MainLog;
}): RuntimeProcess {
  const { form, log } = deps;
  const fileOf = (entry: ProcessSpec['entry']) => {
    const name = entry === 'engine' ? 'engine' : form.kind === 'utility' ? 'utility' : 'runtime';
    return path.join(deps.out, 'main', `${name}.cjs`);
  };
  const starter: ProcessStarter =
    form.kind === 'utility' ? createUtilityStarter(fileOf) : form.kind === 'node' ? createNodeStarter(form.node, fileOf) : noStarter;
  // Read at each start: a choice of the person stands in it for one of them.
  const env: Record<string, string> = { ...deps.env };
  const supervisor = createSupervisor({
    starter,
    spec: { name: 'runtime', entry: 'runtime', args: [], env },
    clock: systemClock,
    log: (event, fields) => log.info(event, fields),
    limits,
    explain: runtimeFailure,
  });
  let current: Session | null = null;
  return {
    relay: form.kind !== 'utility',
    async session(damaged) {
      if (damaged !== undefined) env[damageVariable] = damaged;
      let session: Session;
      try {
        session = await withRestarts(supervisor);
      } finally {
        delete env[damageVariable];
      }
      if (session !== current) {
        current = session;
        serveMicrophone(session, { ...deps.microphone, log });
        if (form.kind === 'utility') serveEngines(session, starter, log);
      }
      return session;
    },
    forgive: () => supervisor.reset(),
    dispose: () => supervisor.dispose(),
  };
}

/** A child that dies before it is ready is started again, as one that dies later would be, until the breaker opens. */
async function withRestarts(supervisor: Supervisor): Promise<Session> {
  for (let left = starts; ; left -= 1) {
    try {
      return await supervisor.ensure();
    } catch (error) {
      if (left <= 1 || !isAppError(error, 'RUNTIME_UNAVAILABLE') || supervisor.status().phase === 'broken') throw error;
    }
  }
}
