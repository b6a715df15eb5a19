import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { Agent } from '@npmcli/agent';
import Config from '@npmcli/config';
import definitions from '@npmcli/config/lib/definitions/index.js';
import pacote from 'pacote';
import { type Deferred, deferred } from '../../../shared/util/deferred.ts';
import { type FromNpm, type NpmOrder, ToNpm } from './npmMessages.ts';

// A child process of its own: npm's libraries read the person's configuration and fetch one package. Each of their sockets asks the
// runtime's door first (PV-03); without an answer none opens.

const waiting = new Map<number, Deferred<boolean>>();
let asked = 0;

process.on('message', (raw) => {
  const message = ToNpm.safeParse(raw);
  if (!message.success) {
    console.error('an order that this build does not know');
    process.exit(64);
  }
  if (message.data.k === 'door') {
    waiting.get(message.data.n)?.resolve(message.data.open);
    waiting.delete(message.data.n);
    return;
  }
  void fetchPackage(message.data).then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error instanceof Error ? error.message : 'failed');
      process.exit(1);
    },
  );
});
// The runtime is gone: nobody waits for this package any more.
process.on('disconnect', () => process.exit(1));

function send(message: FromNpm): void {
  process.send?.(message);
}

class DoorAgent extends Agent {
  override async connect(request: ClientRequest, options: { host: string; port: number | string }): Promise<Socket> {
    const n = ++asked;
    const answer = deferred<boolean>();
    waiting.set(n, answer);
    send({ k: 'ask', n, host: options.host, port: Number(options.port) });
    if (!(await answer.promise)) throw new Error('refused by the offline switch');
    try {
      const socket = await super.connect(request, options);
      socket.once('close', (failed) => {
        send({ k: 'closed', n, ok: !failed, sent: socket.bytesWritten, received: socket.bytesRead });
      });
      return socket;
    } catch (error) {
      send({ k: 'closed', n, ok: false, sent: 0, received: 0 });
      throw error;
    }
  }
}

async function fetchPackage(order: NpmOrder): Promise<void> {
  const config = new Config({
    ...definitions,
    npmPath: order.tmp,
    env: process.env,
    argv: [order.nodePath, 'npm'],
    execPath: order.nodePath,
    cwd: order.tmp,
    warn: false,
  });
  await config.load();
  const { cache: _cache, ...flat } = config.flat;
  const agent = new DoorAgent({
    proxy: flat['httpsProxy'] || flat['proxy'] || proxyOfEnvironment() || undefined,
    noProxy: flat['noProxy'],
    ca: flat['ca'],
    cert: flat['cert'],
    key: flat['key'],
    localAddress: flat['localAddress'] ?? undefined,
    rejectUnauthorized: flat['strictSSL'] !== false,
    // One socket per request, so that each has its own row in the ledger.
    keepAlive: false,
    maxSockets: 4,
  });
  await pacote.tarball.file(`${order.name}@${order.version}`, order.file, { ...flat, agent, preferOnline: true, fullMetadata: false });
}

function proxyOfEnvironment(): string | undefined {
  const { env } = process;
  return env['https_proxy'] || env['HTTPS_PROXY'] || env['http_proxy'] || env['HTTP_PROXY'] || env['proxy'];
}
