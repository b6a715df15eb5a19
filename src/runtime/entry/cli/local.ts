import { createRuntime, type Runtime } from '../../compose/createRuntime.ts';
import { createClock } from '../../platform/clock.ts';
import { createFileSink, createLogger } from '../../platform/logger.ts';
import { createNodeStarter } from '../../platform/nodeStarter.ts';
import { dataDir, pathsOf } from '../../platform/paths.ts';
import type { Clock, Logger, Paths } from '../../platform/ports.ts';
import type { Common, Level } from './args.ts';

/** The outside world of the command line: this machine's clock and folders, the log file of the data folder, engines as its children. */
export type Local = {
  readonly paths: Paths;
  readonly clock: Clock;
  readonly log: Logger;
  /** @throws AppError DATA_DIR_IN_USE and what else `createRuntime` names. */
  compose(): Promise<Runtime>;
};

/** @param here  `import.meta.url` of the entry, which says where the other entries are. */
export function createLocal(options: Pick<Common, 'data' | 'offline' | 'logLevel'>, env: Env, here: string): Local {
  const own = {
    ...env,
    ...(options.data === undefined ? {} : { SOTTO_DATA_DIR: options.data }),
    ...(options.offline ? { SOTTO_OFFLINE: '1' } : {}),
  };
  const clock = createClock();
  const paths = pathsOf(dataDir(own, process.platform), env.SOTTO_MODELS_DIR);
  const log = atLevel(
    createLogger(createFileSink(paths.logs), () => clock.nowMs()),
    options.logLevel,
  );
  return { paths, clock, log, compose: () => createRuntime({ paths, clock, log, starter: createNodeStarter({ here }), env: own }) };
}

type Env = Readonly<Record<string, string | undefined>>;

function atLevel(log: Logger, level: Level): Logger {
  const quiet = () => {};
  return { info: level === 'info' ? log.info : quiet, warn: level === 'error' ? quiet : log.warn, error: log.error };
}
