import { Worker } from 'node:worker_threads';
import { workerFile } from '../workers/workerFile.ts';
import { runEngineChild } from './child.ts';
import { openTransport } from './transport.ts';

// The engine child: `engine <key>`, key `language` or `probe`. Started by a ProcessStarter only.

const engineKeys = ['language', 'probe'];

function main(): void {
  const engineKey = process.argv.slice(2).find((arg) => engineKeys.includes(arg));
  const transport = openTransport(process);
  if (transport === null || engineKey === undefined) {
    process.stderr.write(`usage: engine ${engineKeys.join('|')}, as a child of the runtime\n`);
    process.exitCode = 64;
    return;
  }
  // An abort in the library would otherwise fork a debugger to print its stack.
  process.env['GGML_NO_BACKTRACE'] = '1';
  runEngineChild({
    engineKey,
    transport,
    startWorker: (cancel) =>
      // A hostile chat template may allocate until its deadline; that must not become the machine's trouble.
      new Worker(workerFile(), { name: `engine-${engineKey}`, workerData: { cancel }, resourceLimits: { maxOldGenerationSizeMb: 1024 } }),
    leave: () => process.exit(0),
    // Not `exit`: that would wait for a worker that may be inside a native call for ever.
    die: () => process.kill(process.pid, 'SIGKILL'),
  });
}

main();
