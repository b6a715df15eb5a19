import type { ProcessStarter } from '../../shared/supervision/processStarter.ts';
import { createRuntime, type Runtime } from '../compose/createRuntime.ts';
import { createClock } from '../platform/clock.ts';
import { createFileSink, createLogger } from '../platform/logger.ts';
import { dataDir, pathsOf } from '../platform/paths.ts';
import type { Logger } from '../platform/ports.ts';
import type { MicrophoneGate } from '../voice/ports.ts';

/**
 * The outside world of a runtime that runs as the app's child: this machine's clock and folders, the log file in the data folder; main
 * starts its engines where it must, and grants the microphone.
 */
export function product(env: Readonly<Record<string, string | undefined>>): {
  log: Logger;
  compose(starter: ProcessStarter, gate: MicrophoneGate): Promise<Runtime>;
} {
  const clock = createClock();
  const paths = pathsOf(dataDir(env, process.platform), env.SOTTO_MODELS_DIR);
  const log = createLogger(createFileSink(paths.logs), () => clock.nowMs());
  return { log, compose: (starter, gate) => createRuntime({ paths, clock, log, starter, gate, env }) };
}

/**
 * What no code of ours caught. An error leaves the state unknown: the process ends and its supervisor starts a fresh one. A promise
 * that nobody waited for is a fault to be found in the log, and no reason to end other work.
 */
export function watchFaults(log: Logger): void {
  process.on('uncaughtException', (error) => {
    log.error('process.uncaught', {}, error);
    process.exit(70);
  });
  process.on('unhandledRejection', (reason) => log.error('process.unhandledRejection', {}, reason));
}
