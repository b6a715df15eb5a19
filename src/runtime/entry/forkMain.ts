import { createNodeStarter } from '../platform/nodeStarter.ts';
import { createHostGate } from './hostGate.ts';
import { forkLink } from './parentLink.ts';
import { product, watchFaults } from './product.ts';
import { runRuntimeChild } from './runtimeChild.ts';

// The runtime as a plain Node child of main, for an Electron whose own Node is too old. It forks its engines itself.
const { log, compose } = product(process.env);
watchFaults(log);
runRuntimeChild({
  link: forkLink(process),
  compose: (host) => compose(createNodeStarter({ here: import.meta.url }), createHostGate(host)),
  log,
  leave: () => process.exit(0),
  die: () => process.exit(1),
});
