// `node e2e/helpers/makeTemplate.ts FOLDER MODEL_FILE`: a data folder in which the starter model is installed. The product's own runtime
// and downloader do it; only the address of the file is ours, a server on loopback instead of a package index. Runs on Node 24.
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createRuntime } from '../../src/runtime/compose/createRuntime.ts';
import { createClock } from '../../src/runtime/platform/clock.ts';
import { createLogger, createStderrSink } from '../../src/runtime/platform/logger.ts';
import { createNodeStarter } from '../../src/runtime/platform/nodeStarter.ts';
import { pathsOf } from '../../src/runtime/platform/paths.ts';
import { ModelId } from '../../src/shared/domain/ids.ts';

const [folder, modelFile] = process.argv.slice(2);
if (folder === undefined || modelFile === undefined) throw new Error('usage: makeTemplate.ts FOLDER MODEL_FILE');

const shipped = JSON.parse(readFileSync('resources/catalogue.json', 'utf8')) as {
  entries: { starter: boolean; id: string; file: unknown }[];
};
const starter = shipped.entries.find((entry) => entry.starter);
if (starter === undefined) throw new Error('the catalogue has no starter model');

await using hub = await serveFile(modelFile);
const catalogue = { schemaVersion: 1, entries: [{ ...starter, sources: [{ kind: 'hub', url: hub.url }] }] };
const clock = createClock();
{
  await using runtime = await createRuntime({
    paths: pathsOf(path.resolve(folder)),
    clock,
    log: createLogger(createStderrSink(), () => clock.nowMs()),
    starter: createNodeStarter({ here: pathToFileURL(path.resolve('src/runtime/compose/createRuntime.ts')).href }),
    env: {},
    catalogue,
  });
  await runtime.services.downloads.start(ModelId.parse(starter.id));
  for await (const { value } of runtime.services.downloads.watch()) {
    const job = value.jobs.find(({ modelId }) => modelId === starter.id);
    if (job?.phase === 'failed') throw new Error(`the download failed: ${JSON.stringify(job.error)}`);
    if (job?.phase === 'installed') break;
  }
}
process.exit(0);

/** One file over loopback, with ranges, as a hub gives it. */
async function serveFile(file: string) {
  const { size } = statSync(file);
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  const etag = `"${hash.digest('hex')}"`;
  const server = createServer((request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const headers = { etag, 'accept-ranges': 'bytes', 'content-length': size - from };
    if (from === 0) response.writeHead(200, headers);
    else response.writeHead(206, { ...headers, 'content-range': `bytes ${from}-${size - 1}/${size}` });
    createReadStream(file, { start: from }).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/model.gguf`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
