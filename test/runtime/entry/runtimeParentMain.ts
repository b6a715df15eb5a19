// A parent that is there to be killed: starts the runtime and says its pid once it is ready.
import { fork } from 'node:child_process';

const [entry, data] = process.argv.slice(2);
const child = fork(entry ?? '', { serialization: 'advanced', env: { PATH: process.env['PATH'] ?? '', SOTTO_DATA_DIR: data ?? '' } });
child.on('message', (frame) => {
  if ((frame as { k: string }).k === 'ready') process.send?.({ pid: child.pid });
});
child.send({ k: 'hello', generation: 1 });
