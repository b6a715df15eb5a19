import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { timestamp } from '../../shared/domain/time.ts';
import { AppError } from '../../shared/errors/appError.ts';
import { version } from '../../shared/version.ts';
import type { Runtime } from '../compose/createRuntime.ts';
import { isLoopback } from '../http/address.ts';
import type { Readiness } from '../http/app.ts';
import { ensureToken, findServer, removeDiscovery, writeDiscovery } from '../http/discovery.ts';
import { createHttpServer } from '../http/server.ts';
import type { ServeOptions } from './cli/args.ts';
import type { Io } from './cli/io.ts';
import type { Local } from './cli/local.ts';

/** npm passes a Ctrl-C on that the terminal already gave us: two within this time are one. */
const sameKeyPressMs = 500;

/**
 * `sotto serve`: binds the port, opens the runtime, serves until a signal comes (SV-01 to SV-05).
 *
 * @param here  `import.meta.url` of the entry; the built page lies beside it.
 * @returns the exit code.
 * @throws AppError DATA_DIR_IN_USE, PORT_IN_USE, BIND_REFUSED and what else the runtime names; nothing stays open then.
 */
export async function serve(options: ServeOptions, local: Local, io: Io, here: string): Promise<number> {
  const { paths, clock, log } = local;
  // Found before the port is asked for: with two servers of one folder the taken port is not the news.
  if ((await findServer(paths)) !== null) throw new AppError('DATA_DIR_IN_USE');
  const instance = [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const server = createHttpServer({ ...options, version, instance, pageDir: pageDir(here), clock, log });
  const stopped = signals(io, local);
  let runtime: Runtime | null = null;
  try {
    const { url } = await server.listen();
    runtime = await local.compose();
    const { services, refusals, router } = runtime;
    await ensureToken(paths, services.keys);
    await server.open({
      router,
      serveVoice: (line) => services.voice.connect(line),
      keys: services.keys,
      refusals,
      readiness: () => readinessOf(runtime),
    });
    await writeDiscovery(paths, { url, instance, startedAt: timestamp(clock.nowMs()) });
    announce(options, url, instance, io, services.keys.oneTimeCode);
    await stopped.first;
  } finally {
    await removeDiscovery(paths, instance);
    await server.close();
    await runtime?.[Symbol.asyncDispose]();
    stopped.forget();
  }
  return 0;
}

/** One line on stdout (SV-02). The code opens the page once; a program that reads JSON has the key file instead. */
function announce(options: ServeOptions, url: string, instance: string, io: Io, oneTimeCode: () => { code: string }): void {
  if (options.json) io.out(`${JSON.stringify({ url, instance })}\n`);
  else if (!options.auth) io.out(`Sotto is ready at ${url}\n`);
  else io.out(`Sotto is ready at ${url} – one-time code ${oneTimeCode().code} (works once, for 10 minutes)\n`);
  if (!options.auth)
    io.err('Warning: without authentication, every program and every user of this machine can read and write all chats.\n');
  if (!isLoopback(options.host))
    io.err('Warning: other machines can reach this server, and the connection is not encrypted. Put a proxy with TLS in front.\n');
}

/** `first` resolves at the first signal; a second one ends the process at once (SV-04). */
function signals(io: Io, { clock, log }: Local): { first: Promise<void>; forget(): void } {
  let at: number | null = null;
  let forget = () => {};
  const first = new Promise<void>((resolve) => {
    forget = io.onSignal((signal) => {
      if (at !== null && clock.monotonicMs() - at < sameKeyPressMs) return;
      if (at !== null) io.exit(signal === 'SIGINT' ? 130 : 143);
      at = clock.monotonicMs();
      log.info('serve.stopping', { signal });
      resolve();
    });
  });
  return { first, forget };
}

function readinessOf(runtime: Runtime | null): Readiness {
  const health = runtime?.services.health.get();
  const language = runtime?.services.engines.status.get();
  if (health === undefined || language === undefined)
    return { ready: false, store: { state: 'closed', code: null }, engines: [], models: { language: { state: 'none', modelId: null } } };
  return {
    ready:
      health.store.state === 'ok' &&
      health.engines.every((engine) => engine.state !== 'broken') &&
      language.state !== 'none' &&
      language.state !== 'error',
    store: health.store,
    engines: health.engines.map(({ key, state }) => ({ key, state })),
    models: { language: { state: language.state, modelId: language.modelId } },
  };
}

/** out/renderer, beside out/main; from sources the same folder of the checkout. */
function pageDir(here: string): string {
  const file = fileURLToPath(here);
  const root = file.endsWith('.ts') ? join(dirname(file), '..', '..', '..', 'out') : join(dirname(file), '..');
  return join(root, 'renderer');
}
