import { type Behaviour, runFakeEngine } from './fakeEngine.ts';

// The child of `createFakeEngineStarter`: an engine that fails as its last argument says.

const behaviour = JSON.parse(process.argv.at(-1) ?? '{}') as Behaviour;

process.on('disconnect', () => process.exit(0));
runFakeEngine(
  {
    post: (message, sent) => void process.send?.(message, undefined, {}, () => sent?.()),
    onMessage: (listener) => void process.on('message', listener),
    die(act) {
      switch (act) {
        case 'exit0':
          return process.exit(0);
        case 'abort':
          return process.abort();
        case 'segv':
          process.kill(process.pid, 'SIGSEGV');
          return;
        case 'hang':
        case 'freeze':
          for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      }
    },
  },
  behaviour,
);
