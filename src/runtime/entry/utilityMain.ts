import { createElectronStarter, type ParentPortLike } from '../platform/electronStarter.ts';
import { createHostGate } from './hostGate.ts';
import { utilityLink } from './parentLink.ts';
import { product, watchFaults } from './product.ts';
import { runRuntimeChild } from './runtimeChild.ts';

declare global {
  namespace NodeJS {
    interface Process {
      /** Only in a utilityProcess of Electron. */
      readonly parentPort?: ParentPortLike;
    }
  }
}

// The runtime as a utilityProcess of main, which forks the engines for it.
const { parentPort } = process;
if (parentPort === undefined) throw new Error('this file is started by the app, as a utility process');
const { log, compose } = product(process.env);
watchFaults(log);
runRuntimeChild({
  link: utilityLink(parentPort),
  compose: (host) =>
    compose(
      createElectronStarter({
        postMessage: host.post,
        on: (_event, listener) => host.onBody((data, port) => listener({ data, ports: port === null ? [] : [port] })),
      }),
      createHostGate(host),
    ),
  log,
  leave: () => process.exit(0),
  die: () => process.exit(1),
});
