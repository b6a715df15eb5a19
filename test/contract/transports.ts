import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { type RawData, WebSocket } from 'ws';
import { createHttpServer } from '../../src/runtime/http/server.ts';
import { createClock } from '../../src/runtime/platform/clock.ts';
import { createNodeStarter } from '../../src/runtime/platform/nodeStarter.ts';
import { createConnections, type Wire } from '../../src/runtime/procedures/serveConnection.ts';
import { PortFrame } from '../../src/shared/contract/hostLink.ts';
import { createSupervisor, runtimeFailure } from '../../src/shared/supervision/supervisor.ts';
import { deferred } from '../../src/shared/util/deferred.ts';
import {
  type Client,
  createBareClient,
  createMemoryPorts,
  createTestClient,
  createTestLog,
  createTestRuntime,
  type MemoryPort,
} from '../helpers/testRuntime.ts';

/** One way to reach a runtime, with what a hostile caller needs besides the client. */
export type Reach = {
  readonly client: Client;
  /** Sends a frame as it is. */
  raw(message: string): void;
  /** Whatever came back so far and comes later, as text. */
  onText(listener: (text: string) => void): void;
  /** Drops the connection from the caller's side. */
  close(): void;
  /** Another client on a connection of its own, to see that the runtime is alive. */
  another(): Promise<Client>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** `bare`: a client that refuses nothing by itself. */
export type OpenOptions = { readonly bare?: boolean };

export type Transport = { readonly name: string; open(options?: OpenOptions): Promise<Reach> };

/** A port-shaped caller over anything that carries texts. */
function callerOn(
  options: OpenOptions,
  wire: { send(text: string): void; onText(listener: (text: string) => void): void; onClose(listener: () => void): void },
) {
  const texts = new Set<(text: string) => void>();
  wire.onText((text) => {
    for (const listener of texts) listener(text);
  });
  const port: Pick<MemoryPort, 'postMessage' | 'on'> = {
    postMessage: (message) => wire.send(String(message)),
    on(type, listener) {
      if (type === 'message') texts.add((data) => listener({ data }));
      if (type === 'close') wire.onClose(() => listener());
    },
  };
  return {
    client: (options.bare === true ? createBareClient : createTestClient)(port),
    raw: (text: string) => wire.send(text),
    onText: (listener: (text: string) => void) => void texts.add(listener),
  };
}

const memory: Transport = {
  name: 'in memory',
  async open(options = {}) {
    const rt = await createTestRuntime();
    const serve = createConnections({ router: rt.runtime.router, refusals: rt.runtime.refusals, log: createTestLog() });
    const [near, far] = createMemoryPorts();
    serve(wireOf(far));
    const caller = callerOn(options, {
      send: (text) => near.postMessage(text),
      onText: (listener) => near.listen((data) => listener(String(data))),
      onClose: (listener) => near.onClose(listener),
    });
    return {
      ...caller,
      close: () => near.close(),
      another: async () => rt.connect().client,
      [Symbol.asyncDispose]: () => rt[Symbol.asyncDispose](),
    };
  },
};

function wireOf(port: MemoryPort): Wire {
  return {
    send: (text) => port.postMessage(text),
    onMessage: (listener) => port.listen(listener),
    onClose: (listener) => port.onClose(listener),
  };
}

const messagePort: Transport = {
  name: 'over a MessagePort',
  async open(options = {}) {
    const rt = await createTestRuntime();
    const serve = createConnections({ router: rt.runtime.router, refusals: rt.runtime.refusals, log: createTestLog() });
    const { port1, port2 } = new MessageChannel();
    serve({
      send: (text) => port2.postMessage(text),
      onMessage: (listener) => void port2.on('message', listener),
      onClose: (listener) => void port2.on('close', listener),
    });
    const caller = callerOn(options, {
      send: (text) => port1.postMessage(text),
      onText: (listener) => void port1.on('message', listener),
      onClose: (listener) => void port1.on('close', listener),
    });
    return {
      ...caller,
      close: () => port1.close(),
      another: async () => rt.connect().client,
      async [Symbol.asyncDispose]() {
        port1.close();
        await rt[Symbol.asyncDispose]();
      },
    };
  },
};

/** The runtime in a process of its own, as main starts it, with its relay frames. */
const child: Transport = {
  name: 'in a child process',
  async open(options = {}) {
    const dir = await mkdtemp(join(tmpdir(), 'sotto-child-'));
    const { PATH = '' } = process.env;
    const supervisor = createSupervisor({
      starter: createNodeStarter({ here: import.meta.url }),
      spec: { name: 'runtime', entry: 'runtime', args: [], env: { PATH, HOME: dir, SOTTO_DATA_DIR: join(dir, 'data') } },
      clock: createClock(),
      log: () => {},
      explain: runtimeFailure,
    });
    const session = await supervisor.ensure();
    let ids = 0;
    const connect = () => {
      ids += 1;
      const id = ids;
      const texts = new Set<(text: string) => void>();
      const closes = new Set<() => void>();
      const ended = () => {
        for (const listener of closes) listener();
      };
      session.onBody((body) => {
        const frame = PortFrame.safeParse(body);
        if (!frame.success || frame.data.id !== id) return;
        const { data } = frame;
        if (data.k === 'port.data' && typeof data.data === 'string') for (const listener of texts) listener(data.data);
        if (data.k === 'port.close') ended();
      });
      session.onEnd(ended);
      session.post({ k: 'port', id, purpose: 'calls' });
      return {
        ...callerOn(options, {
          send: (data) => session.post({ k: 'port.data', id, data }),
          onText: (listener) => void texts.add(listener),
          onClose: (listener) => void closes.add(listener),
        }),
        close() {
          session.post({ k: 'port.close', id });
          ended();
        },
      };
    };
    return {
      ...connect(),
      another: async () => connect().client,
      async [Symbol.asyncDispose]() {
        await supervisor.dispose();
        await rm(dir, { recursive: true, force: true, maxRetries: 5 });
      },
    };
  },
};

function textOf(data: RawData): string {
  return Buffer.isBuffer(data) ? data.toString() : '';
}

const webSocket: Transport = {
  name: 'over a WebSocket',
  async open(options = {}) {
    const rt = await createTestRuntime();
    const { services, router, refusals } = rt.runtime;
    const server = createHttpServer({
      host: '127.0.0.1',
      port: 0,
      allowedHosts: [],
      allowRemote: false,
      auth: true,
      version: 'test',
      instance: 'test',
      pageDir: null,
      clock: createClock(),
      log: createTestLog(),
    });
    const { url } = await server.listen();
    await server.open({
      router,
      serveVoice: (line) => services.voice.connect(line),
      refusals,
      keys: services.keys,
      readiness: () => ({
        ready: true,
        store: services.store.state.get(),
        engines: [],
        models: { language: { state: 'none', modelId: null } },
      }),
    });
    const { secret } = services.keys.create('test');
    const dial = async () => {
      const address = new URL('/rpc', url);
      address.protocol = 'ws:';
      const socket = new WebSocket(address, { headers: { authorization: `Bearer ${secret}` }, perMessageDeflate: false });
      const opened = deferred<void>();
      socket.once('open', () => opened.resolve());
      socket.once('error', opened.reject);
      await opened.promise;
      socket.on('error', () => {});
      return socket;
    };
    const socket = await dial();
    const caller = callerOn(options, {
      send: (text) => socket.send(text),
      onText: (listener) => void socket.on('message', (data) => listener(textOf(data))),
      onClose: (listener) => void socket.on('close', listener),
    });
    return {
      ...caller,
      close: () => socket.close(),
      async another() {
        const second = await dial();
        return callerOn(options, {
          send: (text) => second.send(text),
          onText: (listener) => void second.on('message', (data) => listener(textOf(data))),
          onClose: (listener) => void second.on('close', listener),
        }).client;
      },
      async [Symbol.asyncDispose]() {
        socket.terminate();
        await server.close();
        await rt[Symbol.asyncDispose]();
      },
    };
  },
};

export const transports: readonly Transport[] = [memory, messagePort, child, webSocket];
