// `node e2e/helpers/makeTemplate.ts FOLDER MODEL_ID=FILE … [--say FILE=TEXT …]`: a data folder in which these models of the catalogue are
// installed, and that has been through the first steps. Its voice then says the texts into WAV files. The product's own runtime and downloader do it; only the address of the files is ours, a server on
// loopback instead of a package index. Runs on Node 24.
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { createRuntime } from '../../src/runtime/compose/createRuntime.ts';
import { createClock } from '../../src/runtime/platform/clock.ts';
import { createLogger, createStderrSink } from '../../src/runtime/platform/logger.ts';
import { createNodeStarter } from '../../src/runtime/platform/nodeStarter.ts';
import { pathsOf } from '../../src/runtime/platform/paths.ts';
import { ModelId } from '../../src/shared/domain/ids.ts';
import { join, wav } from '../../test/helpers/audio.ts';

const {
  positionals: [folder, ...wanted],
  values: { say = [] },
} = parseArgs({ allowPositionals: true, options: { say: { type: 'string', multiple: true } } });
if (folder === undefined || wanted.length === 0) throw new Error('usage: makeTemplate.ts FOLDER MODEL_ID=FILE … [--say FILE=TEXT …]');
const pairs = (list: readonly string[]) =>
  list.map((pair): [string, string] => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]);
const files = new Map(pairs(wanted));

const shipped = JSON.parse(readFileSync('resources/catalogue.json', 'utf8')) as { entries: { id: string }[] };
const chosen = shipped.entries.filter(({ id }) => files.has(id));
if (chosen.length !== files.size) throw new Error(`the catalogue does not hold all of ${[...files.keys()].join(', ')}`);

await using hub = await serveFiles(files);
const catalogue = {
  ...shipped,
  entries: chosen.map((entry) => ({ ...entry, sources: [{ kind: 'hub', url: hub.urlOf(entry.id) }] })),
};
const clock = createClock();
const { signal: never } = new AbortController();
{
  await using runtime = await createRuntime({
    paths: pathsOf(path.resolve(folder)),
    clock,
    log: createLogger(createStderrSink(), () => clock.nowMs()),
    starter: createNodeStarter({ here: pathToFileURL(path.resolve('src/runtime/compose/createRuntime.ts')).href }),
    env: {},
    catalogue,
  });
  const { downloads, settings } = runtime.services;
  settings.set({ firstRun: 'done' });
  for (const { id } of chosen) await downloads.start(ModelId.parse(id));
  const waiting = new Set(files.keys());
  for await (const { value } of downloads.watch()) {
    for (const { modelId, phase, error } of value.jobs) {
      if (phase === 'failed') throw new Error(`the download of ${modelId} failed: ${JSON.stringify(error)}`);
      if (phase === 'installed') waiting.delete(modelId);
    }
    if (waiting.size === 0) break;
  }
  for (const [file, text] of pairs(say)) {
    const parts: Float32Array[] = [];
    let rate = 16_000;
    for await (const { samples, sampleRate } of runtime.services.engines.textToSpeech.speak({ text, speed: 1 }, { signal: never })) {
      parts.push(samples);
      rate = sampleRate;
    }
    writeFileSync(file, wav(join(...parts), rate));
  }
}
process.exit(0);

/** Files over loopback, with ranges, as a hub gives them. */
async function serveFiles(all: ReadonlyMap<string, string>) {
  const served = new Map<string, { file: string; size: number; etag: string }>();
  for (const [id, file] of all) {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
    served.set(`/${id}`, { file, size: statSync(file).size, etag: `"${hash.digest('hex')}"` });
  }
  const server = createServer((request, response) => {
    const found = served.get(request.url ?? '');
    if (found === undefined) return void response.writeHead(404).end();
    const { file, size, etag } = found;
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const headers = { etag, 'accept-ranges': 'bytes', 'content-length': size - from };
    if (from === 0) response.writeHead(200, headers);
    else response.writeHead(206, { ...headers, 'content-range': `bytes ${from}-${size - 1}/${size}` });
    createReadStream(file, { start: from }).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (id: string) => `http://127.0.0.1:${port}/${id}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
