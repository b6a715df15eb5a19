// Stands in for the runtime and, with an argument, for an engine, where a utilityProcess has to be tried on an Electron that cannot run
// the real ones in it. It speaks the frames of both; a page's message `engine` makes it start an engine and pass on what that says. On a
// voice line it counts each byte up.
'use strict';
const parent = process.parentPort;
const isEngine = process.argv.length > 2;
let generation = 0;
const app = (body) => parent.postMessage({ k: 'app', generation, body });

let page = null;
parent.on('message', ({ data: frame, ports }) => {
  if (isEngine) {
    const line = ports[0];
    line.on('message', ({ data }) =>
      line.postMessage(`engine ${process.argv[2]} heard ${data}, env ${Object.keys(process.env).includes('FROM_RUNTIME')}`),
    );
    line.on('close', () => process.exit(0));
    line.start();
    return;
  }
  switch (frame.k) {
    case 'hello':
      generation = frame.generation;
      return parent.postMessage({ k: 'ready', generation });
    case 'ping':
      return parent.postMessage({ k: 'pong', generation, n: frame.n });
    case 'stop':
      parent.postMessage({ k: 'goodbye', generation });
      return setTimeout(() => process.exit(0), 50);
  }
  const { k, id, code, purpose } = frame.body;
  if (k === 'port' && purpose === 'voice') {
    const [own] = ports;
    own.on('message', ({ data }) => own.postMessage(data instanceof Uint8Array ? data.map((byte) => byte + 1) : `line heard ${data}`));
    own.start();
    return;
  }
  if (k === 'port') {
    const [own] = ports;
    own.on('close', () => app({ k: 'port.close', id }));
    own.on('message', ({ data }) => {
      if (data === 'engine') {
        page = own;
        app({ k: 'engine.start', id: 1, spec: { name: 'engine:stub', entry: 'engine', args: ['language'], env: { FROM_RUNTIME: '1' } } });
      } else if (data === 'kill') app({ k: 'engine.kill', id: 1 });
      else if (!data.startsWith('{')) own.postMessage(`runtime heard ${data}`);
    });
    own.start();
  }
  if (k === 'engine.started') {
    const engine = ports[0];
    engine.on('message', ({ data }) => page.postMessage(data));
    engine.start();
    engine.postMessage('hi');
  }
  if (k === 'engine.exit') page.postMessage(`engine exit ${code}`);
});
