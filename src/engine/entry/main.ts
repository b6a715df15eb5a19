import { Worker } from 'node:worker_threads';
import { workerFile } from '../workers/workerFile.ts';
import { runEngineChild } from './child.ts';
import { openTransport } from './transport.ts';

// The engine child: `engine <key>`. Started by a ProcessStarter only.

/** What each key has workers for; the first one answers what belongs to none. */
const lanes: Readonly<Record<string, readonly string[]>> = {
  language: ['llm'],
  speech: ['vad', 'asr', 'tts'],
  probe: ['llm', 'vad', 'asr', 'tts', 'prepare'],
};
const engineKeys = Object.keys(lanes);

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
    ...(engineKey === 'language' ? {} : { laneOf: laneOf(lanes[engineKey] ?? []) }),
    startWorker: (cancel, lane) =>
      // A hostile chat template may allocate until its deadline; that must not become the machine's trouble.
      new Worker(workerFile(lane), {
        name: `engine-${engineKey}-${lane}`,
        workerData: { cancel },
        resourceLimits: { maxOldGenerationSizeMb: 1024 },
      }),
    leave: () => process.exit(0),
    // Not `exit`: that would wait for a worker that may be inside a native call for ever.
    die: () => process.kill(process.pid, 'SIGKILL'),
  });
}

/** The worker of `asr.load` is `asr`; methods without a dot are the language model's. */
function laneOf(own: readonly string[]): (method: string) => string {
  return (method) => own.find((lane) => method.startsWith(`${lane}.`)) ?? own[0] ?? '';
}

main();
