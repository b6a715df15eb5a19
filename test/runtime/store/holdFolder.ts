import { createClock } from '../../../src/runtime/platform/clock.ts';
import { migrations } from '../../../src/runtime/store/migrations/index.ts';
import { openStore } from '../../../src/runtime/store/open.ts';
import { toAppError } from '../../../src/shared/errors/appError.ts';
import { silent, tempPaths } from '../agent/harness.ts';

/** A second runtime, as far as the folder is concerned: says how opening went and stays until it is ended. */
const folder = process.argv[2] ?? '';
openStore({ paths: tempPaths(folder), clock: createClock(), log: silent, migrations }).then(
  (store) => process.send?.({ generation: store.generation }),
  (error: unknown) => process.send?.({ code: toAppError(error).code }),
);
process.on('message', () => undefined);
