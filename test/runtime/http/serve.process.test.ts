import { chmodSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { codes } from '../../../src/shared/errors/codes.ts';
import { createTestRuntime } from '../../helpers/testRuntime.ts';
import { verifies } from '../../helpers/verifies.ts';
import { dataFolder, runSotto, startServe, startSotto } from './sottoProcess.ts';

const mode = (file: string) => statSync(file).mode & 0o777;
const healthOf = async (url: string): Promise<unknown> => (await fetch(new URL('/health', url))).json();

it('SV-02, SV-05: ready is one line; http.json says where, is private, holds no key, and goes at the end', async () => {
  verifies('SV-05');
  using data = dataFolder();
  const server = await startServe(data.path);
  expect(server.line).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/),
    instance: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
  const discovery = JSON.parse(data.read('http.json'));
  expect(discovery).toEqual({ ...Object(server.line), startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) });
  expect(mode(data.file('http.json'))).toBe(0o600);
  expect(await healthOf(server.url)).toMatchObject({ status: 'ok', instance: server.instance });
  server.child.kill('SIGTERM');
  expect(await server.ended).toMatchObject({ code: 0, signal: null, err: '' });
  expect(data.has('http.json')).toBe(false);
});

it('SV-11: the first start makes one key for the command line, a later one keeps it, a lost or revoked one is made anew', async () => {
  verifies('SV-11');
  using data = dataFolder();
  const asked = async (url: string, key: string) =>
    (await fetch(new URL('/ready', url), { headers: { authorization: `Bearer ${key}` } })).status !== 401;
  let first = '';
  {
    await using server = await startServe(data.path);
    first = data.read('http-token').trim();
    expect(first).toMatch(/^sotto_ak_[A-Za-z0-9_-]{43}$/);
    expect(mode(data.file('http-token'))).toBe(0o600);
    expect(await asked(server.url, first)).toBe(true);
  }
  chmodSync(data.file('http-token'), 0o644);
  {
    await using server = await startServe(data.path);
    expect(data.read('http-token').trim()).toBe(first);
    expect(mode(data.file('http-token'))).toBe(0o600);
    expect(await asked(server.url, first)).toBe(true);
  }
  rmSync(data.file('http-token'));
  await using server = await startServe(data.path);
  const second = data.read('http-token').trim();
  expect(await asked(server.url, second)).toBe(true);
  expect(await asked(server.url, first)).toBe(false);
});

it('SV-12: an address that others can reach is refused without --allow-remote and without keys, before anything is opened', async () => {
  verifies('SV-12');
  using data = dataFolder();
  const refused = await runSotto(['serve', '--data', data.path, '--port', '0', '--host', '0.0.0.0', '--no-auth', '--allow-remote']);
  expect([refused.code, refused.out, refused.err]).toEqual([codes.BIND_REFUSED.exitCode, '', expect.stringContaining('(BIND_REFUSED)')]);
  expect(data.has('sotto.db')).toBe(false);
  await using remote = await startServe(data.path, ['--host', '0.0.0.0', '--allow-remote']);
  const { port } = new URL(remote.url);
  expect(await healthOf(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 'ok' });
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(401);
  remote.child.kill('SIGTERM');
  expect((await remote.ended).err).toContain('other machines can reach this server');
});

it('--no-auth lets in whoever is on this machine, and says so', async () => {
  using data = dataFolder();
  const server = await startServe(data.path, ['--no-auth']);
  expect((await fetch(new URL('/ready', server.url))).status).not.toBe(401);
  server.child.kill('SIGTERM');
  expect((await server.ended).err).toContain('Warning: without authentication');
});

it('a taken port, a folder in use by a server and one in use by the app each have their sentence and code', async () => {
  using data = dataFolder();
  using other = dataFolder();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const onPort = await runSotto(['serve', '--data', data.path, '--port', String(port)]);
  expect([onPort.code, onPort.err]).toEqual([codes.PORT_IN_USE.exitCode, expect.stringContaining(`Port ${port} is already taken.`)]);
  taken.close();

  await using server = await startServe(data.path);
  const second = await runSotto(['serve', '--data', data.path, '--port', '0']);
  expect([second.code, second.err]).toEqual([75, expect.stringContaining('(DATA_DIR_IN_USE)')]);
  expect(await healthOf(server.url)).toMatchObject({ instance: server.instance });
  expect(JSON.parse(data.read('http.json'))).toMatchObject({ instance: server.instance });

  await using app = await createTestRuntime({ dataDir: other.path });
  for (const args of [
    ['serve', '--port', '0'],
    ['ask', 'hello'],
  ]) {
    const refused = await runSotto([...args, '--data', app.dataDir]);
    expect([refused.code, refused.err, refused.out]).toEqual([75, expect.stringContaining('Another Sotto is using this data folder.'), '']);
  }
  const asJson = await runSotto(['keys', 'list', '--json', '--data', app.dataDir]);
  expect(JSON.parse(asJson.err)).toEqual({ error: { code: 'DATA_DIR_IN_USE', data: {} } });
});

it('SV-03: what is not understood ends with 64 before anything is opened; a wrong variable is a warning', async () => {
  using data = dataFolder();
  for (const args of [
    ['serve', '--bogus', '--data', data.file('never')],
    ['help', 'dance'],
  ]) {
    const { code, err, out } = await runSotto(args);
    expect([args[0], code, out, err]).toEqual([args[0], 64, '', expect.stringContaining('`sotto help` shows what there is.')]);
  }
  expect(data.has('never')).toBe(false);
  const warned = startSotto(['serve', '--port', '0', '--data', data.path], {
    SOTTO_PORT: 'seven',
    SOTTO_LOG: 'loud',
    SOTTO_OFFLINE: 'maybe',
  });
  expect(await warned.firstLine).toMatch(/^Sotto is ready at http:\/\/127\.0\.0\.1:\d+\/ – one-time code [0-9A-Z]{4}-[0-9A-Z]{4} /);
  warned.child.kill('SIGINT');
  const { code, err } = await warned.ended;
  expect(code).toBe(0);
  expect(err.split('\n').filter((line) => line.startsWith('Warning: SOTTO_'))).toHaveLength(2);
});

it('SV-05: a server that was killed leaves a file that nobody believes', async () => {
  verifies('SV-05');
  using data = dataFolder();
  const killed = await startServe(data.path);
  killed.child.kill('SIGKILL');
  await killed.ended;
  expect(data.has('http.json')).toBe(true);
  const list = await runSotto(['keys', 'list', '--data', data.path]);
  expect([list.code, list.out]).toEqual([0, expect.stringContaining('command line of this machine')]);
  await using again = await startServe(data.path);
  expect(JSON.parse(data.read('http.json')).instance).toBe(again.instance);
});

it('SV-07, SV-10: codes and keys of the command line work at the server that runs, and revoking closes its sockets', async () => {
  verifies('SV-10');
  using data = dataFolder();
  await using server = await startServe(data.path);
  const code = await runSotto(['keys', 'code', '--data', data.path]);
  expect(code.out).toMatch(/^[0-9A-Z]{4}-[0-9A-Z]{4}\n$/);
  const login = await fetch(new URL('/login', server.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: code.out.trim() }),
  });
  expect(login.status).toBe(200);
  const made = JSON.parse((await runSotto(['keys', 'create', '--name', 'script', '--json', '--data', data.path])).out);
  const socket = new WebSocket(new URL('/rpc', server.url.replace('http', 'ws')), { headers: { authorization: `Bearer ${made.secret}` } });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const listed = (await runSotto(['keys', 'list', '--json', '--data', data.path])).out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(listed.map((key) => [key.kind, key.name])).toEqual(
    expect.arrayContaining([
      ['key', 'script'],
      ['page', expect.any(String)],
    ]),
  );
  const revoked = await runSotto(['keys', 'revoke', made.key.id, '--data', data.path]);
  expect([revoked.code, revoked.out]).toEqual([0, 'script is revoked; its connections are closed.\n']);
  expect(await closed).toBe(4401);
  const unknown = await runSotto(['keys', 'revoke', `key_${'0'.repeat(32)}`, '--data', data.path]);
  expect(unknown.code).toBe(codes.NOT_FOUND.exitCode);
});

it('RB-10: no key or code is in the log, in http.json or in the process list', async () => {
  using data = dataFolder();
  await using server = await startServe(data.path);
  const token = data.read('http-token').trim();
  const code = (await runSotto(['keys', 'code', '--data', data.path])).out.trim();
  await fetch(new URL(`/?token=${token}&code=${code}`, server.url), {
    headers: { authorization: `Bearer ${token}`, cookie: `x=${token}` },
  });
  await fetch(new URL(`/${token}`, server.url));
  await fetch(new URL('/login', server.url), { method: 'POST', body: new URLSearchParams({ code: token }) });
  const places = [data.read('logs/sotto.log'), data.read('http.json'), server.child.spawnargs.join(' ')].join('\n');
  expect(places).toContain('http.refused');
  for (const secret of [token, token.slice(9), code, code.replace('-', '')]) expect(places).not.toContain(secret);
});

it('models and questions have their sentence when there is no model and no network', async () => {
  using data = dataFolder();
  const list = await runSotto(['models', 'list', '--json', '--data', data.path]);
  expect(JSON.parse(list.out.split('\n')[0] ?? '')).toMatchObject({ state: 'not installed' });
  const unknown = await runSotto(['models', 'pull', 'no-such-model', '--data', data.path]);
  expect([unknown.code, unknown.err]).toEqual([codes.MODEL_UNKNOWN.exitCode, expect.stringContaining('There is no model no-such-model.')]);
  const offline = await runSotto(['models', 'pull', 'smollm2-135m-instruct-q4_1', '--offline', '--data', data.path]);
  expect([offline.code, offline.err]).toEqual([codes.OFFLINE.exitCode, expect.stringContaining('Sotto is set to stay offline.')]);
  const ask = await runSotto(['ask', 'hello', '--data', data.path]);
  expect([ask.code, ask.err]).toEqual([codes.MODEL_NOT_INSTALLED.exitCode, expect.stringContaining('No language model is installed.')]);
});

it('SV-08: starting, signing in and serving opens no connection and looks up no name', async () => {
  verifies('SV-08');
  using data = dataFolder();
  const hook = fileURLToPath(new URL('./noteConnections.cjs', import.meta.url));
  const env = (name: string) => ({ NODE_OPTIONS: `--require=${hook}`, SOTTO_TEST_NOTES: data.file(name) });
  await using server = await startServe(data.path, [], env('server.notes'));
  const code = (await runSotto(['keys', 'code', '--data', data.path], env('client.notes'))).out.trim();
  const login = await fetch(new URL('/login', server.url), { method: 'POST', body: new URLSearchParams({ code }), redirect: 'manual' });
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
  await fetch(server.url, { headers: { cookie } });
  for (const [call, input] of [
    ['models/catalogue', {}],
    ['sessions/list', {}],
    ['sessions/start', {}],
  ] as const) {
    const headers = { cookie, 'content-type': 'application/json' };
    const reply = await fetch(new URL(`/rpc/${call}`, server.url), { method: 'POST', headers, body: JSON.stringify({ json: input }) });
    expect([call, reply.status]).toEqual([call, 200]);
  }
  expect(data.has('server.notes')).toBe(false);
  // The notes work: the command line did reach the server.
  expect(data.read('client.notes')).toContain('connect 127.0.0.1');
});
