import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createFiles } from '../../../../src/runtime/platform/files.ts';
import type { JobId } from '../../../../src/shared/domain/ids.ts';
import { AppError } from '../../../../src/shared/errors/appError.ts';
import { createFakeClock } from '../../../helpers/fakeClock.ts';
import { etagOf, faultServer, type Step } from '../../../helpers/faultServer.ts';
import { tinyGguf } from '../../../helpers/ggufBytes.ts';
import { verifies } from '../../../helpers/verifies.ts';
import { createHarness, type Harness, type HarnessOptions, modelId, sha256, targetOf, untilTrue } from '../harness.ts';

// Loopback and real files on a machine that may be busy: a wait is bounded by its state, not by the default of 5 s.
vi.setConfig({ testTimeout: 30_000 });

const model = tinyGguf({ data: 400_000 });
const cut = 262_144;

/** A harness over one path `/m.gguf`. */
async function oneFile(steps: readonly Step[], more: HarnessOptions & { target?: { bytes?: null; sha256?: null } } = {}) {
  const clock = createFakeClock();
  const server = await faultServer([{ path: '/m.gguf', steps }]);
  const rt = createHarness({ clock, targets: [targetOf(model, [server.url('/m.gguf')], more.target ?? {})], ...more });
  return {
    clock,
    server,
    rt,
    async [Symbol.asyncDispose]() {
      await rt[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

type OneFile = Awaited<ReturnType<typeof oneFile>>;

/** A paused job whose part holds `bytes`, as an earlier process may have left it. Takes the first step of the server. */
async function withPart(one: OneFile, bytes: Uint8Array, validator: { host: string; etag: string } | null): Promise<JobId> {
  const { rt } = one;
  const { jobId } = await rt.downloads.start(modelId);
  await untilTrue(
    () => one.server.requests.length === 1,
    () => 'the first request',
  );
  await rt.downloads.pause(jobId);
  mkdirSync(dirname(rt.partPath(jobId)), { recursive: true });
  writeFileSync(rt.partPath(jobId), bytes);
  const row = rt.db.prepare<[], { state: string }>('SELECT state FROM downloads').get();
  const state = JSON.stringify({ ...JSON.parse(row?.state ?? '{}'), received: bytes.length, validator, restarted: null });
  rt.db.prepare('UPDATE downloads SET state = ?').run(state);
  return jobId;
}

/** Runs the resume of a part against the server from its second step on. */
async function resumed(one: OneFile, part: Uint8Array, validator: { host: string; etag: string } | null) {
  const jobId = await withPart(one, part, validator);
  const next = await one.rt.restart();
  await next.downloads.resume(jobId);
  return { next, jobId };
}

async function expectWhole(rt: Harness, jobId: JobId): Promise<void> {
  await rt.until(jobId, 'installed');
  expect(sha256(readFileSync(rt.modelPath()))).toBe(sha256(model));
}

const idle: Step = { body: model, stallAt: 0 };

describe('table 9.3: what the answer to a resume means', () => {
  it('206 with the right start: append', async () => {
    await using one = await oneFile([idle, { body: model }]);
    const { next, jobId } = await resumed(one, model.subarray(0, cut), null);
    await using _ = next;
    await expectWhole(next, jobId);
    expect(one.server.requests.at(-1)?.headers).toMatchObject({ range: `bytes=${cut}-` });
    expect(one.server.requests.at(-1)?.headers['if-range']).toBeUndefined();
    expect(next.job(jobId).restarted).toBeNull();
  });

  it.each([
    ['another start', { rangeStart: 1000 }],
    ['another total', { rangeTotal: model.length + 1 }],
  ])('206 with %s: the part is dropped and the file asked for anew, once', async (_what, lie) => {
    await using one = await oneFile([idle, { body: model, ...lie }, { body: model }]);
    const { next, jobId } = await resumed(one, model.subarray(0, cut), null);
    await using _ = next;
    await expectWhole(next, jobId);
    expect(next.job(jobId).restarted).toBe('range');
    expect(one.server.requests.map((request) => request.headers['range'])).toEqual([undefined, `bytes=${cut}-`, undefined]);
  });

  it('206 that does not say the total is no lie: append', async () => {
    await using one = await oneFile([idle, { body: model, rangeTotal: '*' }]);
    const { next, jobId } = await resumed(one, model.subarray(0, cut), null);
    await using _ = next;
    await expectWhole(next, jobId);
    expect(next.job(jobId).restarted).toBeNull();
  });

  it('200 after If-Range, while the source still names the hash: asked once more with Range alone', async () => {
    const names = { etag: `"${sha256(model)}"` };
    await using one = await oneFile([idle, { body: model, ...names, ignoreRange: true }, { body: model, ...names }]);
    const validator = { host: `127.0.0.1:${one.server.port}`, etag: '"older"' };
    const { next, jobId } = await resumed(one, model.subarray(0, cut), validator);
    await using _ = next;
    await expectWhole(next, jobId);
    const [, second, third] = one.server.requests;
    expect(second?.headers).toMatchObject({ 'if-range': '"older"', range: `bytes=${cut}-` });
    expect(third?.headers['range']).toBe(`bytes=${cut}-`);
    expect(third?.headers['if-range']).toBeUndefined();
    expect(next.job(jobId).restarted).toBeNull();
  });

  it('200 otherwise (another content): the part is truncated and the body taken from 0', async () => {
    await using one = await oneFile([idle, { body: model }]);
    const validator = { host: `127.0.0.1:${one.server.port}`, etag: '"of other content"' };
    const { next, jobId } = await resumed(one, Buffer.alloc(cut, 7), validator);
    await using _ = next;
    await expectWhole(next, jobId);
    expect(one.server.requests).toHaveLength(2);
    expect(next.job(jobId).restarted).toBe('changed');
  });

  it('200 because the server ignores Range, over a part of 29 bytes of text (BC-02)', async () => {
    await using one = await oneFile([idle, { body: model, ignoreRange: true }]);
    const { next, jobId } = await resumed(one, Buffer.from('Too many requests, try later.'), null);
    await using _ = next;
    await expectWhole(next, jobId);
    expect(next.job(jobId).restarted).toBe('changed');
  });

  it('416 and the part has the size that the server states: verify, without another request', async () => {
    await using one = await oneFile([idle, { body: model }], { target: { bytes: null } });
    const { next, jobId } = await resumed(one, model, null);
    await using _ = next;
    await expectWhole(next, jobId);
    expect(one.server.requests).toHaveLength(2);
  });

  it('416 otherwise: the part is dropped and begun again, one time only (BC-03)', async () => {
    await using one = await oneFile([idle, { body: model }], { target: { bytes: null } });
    const { next, jobId } = await resumed(one, Buffer.concat([model, Buffer.from('x')]), null);
    await using _ = next;
    await expectWhole(next, jobId);
    expect(one.server.requests.map((request) => request.headers['range'])).toEqual([undefined, `bytes=${model.length + 1}-`, undefined]);
  });

  it('a part of the full size is verified without a request', async () => {
    await using one = await oneFile([idle, { body: model }]);
    const { next, jobId } = await resumed(one, model, null);
    await using _ = next;
    await expectWhole(next, jobId);
    expect(one.server.requests).toHaveLength(1);
  });

  it('neither validator nor expected hash: never resumed', async () => {
    await using one = await oneFile([idle, { body: model }], { target: { sha256: null } });
    const { next, jobId } = await resumed(one, model.subarray(0, cut), null);
    await using _ = next;
    await expectWhole(next, jobId);
    expect(one.server.requests.at(-1)?.headers['range']).toBeUndefined();
    expect(next.job(jobId).restarted).toBe('unprovable');
  });

  it('a strong validator of this host, without a hash: resumed with If-Range', async () => {
    await using one = await oneFile([idle, { body: model }], { target: { sha256: null } });
    const validator = { host: `127.0.0.1:${one.server.port}`, etag: etagOf(model) };
    const { next, jobId } = await resumed(one, model.subarray(0, cut), validator);
    await using _ = next;
    await expectWhole(next, jobId);
    expect(one.server.requests.at(-1)?.headers).toMatchObject({ 'if-range': etagOf(model) });
    expect(next.job(jobId).restarted).toBeNull();
  });
});

describe('wrong bytes', () => {
  it('DL-13: one flipped bit, once: begun again from 0; the model is right in the end', async () => {
    await using one = await oneFile([{ body: model, flipAt: 200_000 }, { body: model }]);
    const { jobId } = await one.rt.downloads.start(modelId);
    await expectWhole(one.rt, jobId);
    expect(one.rt.job(jobId).restarted).toBe('hash');
    expect(one.server.requests[1]?.headers['range']).toBeUndefined();
  });

  it('DL-13: wrong twice: failed, set aside as .bad, not listed, never resumed; a new start begins at 0', async () => {
    verifies('DL-13');
    await using one = await oneFile([{ body: model, flipAt: 9000 }, { body: model, flipAt: 9000 }, { body: model }]);
    const { jobId } = await one.rt.downloads.start(modelId);
    const job = await one.rt.until(jobId, 'failed', 'installed');
    expect(job).toMatchObject({
      phase: 'failed',
      resumable: false,
      received: 0,
      error: { code: 'DOWNLOAD_HASH_MISMATCH', data: { file: 'tiny.gguf', expected: sha256(model) } },
    });
    await untilTrue(
      () => existsSync(`${one.rt.partPath(jobId)}.bad`),
      () => 'a .bad part',
    );
    expect(existsSync(one.rt.partPath(jobId))).toBe(false);
    expect(one.rt.registry.list()).toEqual([]);
    expect(existsSync(one.rt.modelPath())).toBe(false);
    await one.rt.downloads.start(modelId);
    await expectWhole(one.rt, jobId);
    expect(one.server.requests[2]?.headers['range']).toBeUndefined();
  });

  it('a body that is longer or shorter than the catalogue says is a size mismatch before it is a hash mismatch', async () => {
    const longer = Buffer.concat([model, Buffer.alloc(1000)]);
    await using one = await oneFile([{ body: longer, length: null }, { body: model.subarray(0, 300_000) }]);
    const { jobId } = await one.rt.downloads.start(modelId);
    const job = await one.rt.until(jobId, 'failed', 'installed');
    expect(job.error).toMatchObject({ code: 'DOWNLOAD_SIZE_MISMATCH', data: { expected: model.length, actual: 300_000 } });
  });

  it('a body that ends early as if all were well is begun again, once', async () => {
    await using one = await oneFile([{ body: model, cutAt: 100_000 }, { body: model }]);
    const { jobId } = await one.rt.downloads.start(modelId);
    await expectWhole(one.rt, jobId);
    expect(one.rt.job(jobId).restarted).toBe('size');
  });

  it('a part that was changed on disk between two processes is found by its hash', async () => {
    await using one = await oneFile([idle, { body: model }, { body: model }]);
    const changed = Buffer.from(model.subarray(0, cut));
    changed[1000] = 1;
    const { next, jobId } = await resumed(one, changed, null);
    await using _ = next;
    await expectWhole(next, jobId);
    expect(next.job(jobId).restarted).toBe('hash');
  });
});

describe('no model at all (DL-12)', () => {
  it.each<[string, Step, string]>([
    [
      'a page',
      { body: `<!doctype html>\n<p>${'Sign in to the network. '.repeat(80)}`, headers: { 'content-type': 'text/html' } },
      '<!doctype html>',
    ],
    ['an XML error', { body: '\n\n<Error><Code>AccessDenied\u0007</Code></Error>' }, '<Error><Code>AccessDenied\\u{7}</Code></Error>'],
    ['JSON', { body: '{"error":"gone"}', headers: { 'content-type': 'application/json' } }, '{"error":"gone"}'],
    ['nothing', { body: '' }, ''],
  ])('%s: waits for another network, tries once more, then fails with the first line', async (_what, step, firstLine) => {
    await using one = await oneFile([step]);
    const { jobId } = await one.rt.downloads.start(modelId);
    const waiting = await one.rt.until(jobId, 'waiting', 'failed');
    expect(waiting).toMatchObject({
      phase: 'waiting',
      waitingFor: 'network',
      error: { code: 'DOWNLOAD_NOT_A_MODEL', data: { firstLine } },
    });
    await one.clock.advanceAsync(5 * 60_000);
    const failed = await one.rt.until(jobId, 'failed', 'installed');
    expect(failed).toMatchObject({ phase: 'failed', error: { code: 'DOWNLOAD_NOT_A_MODEL' } });
    expect(one.server.requests).toHaveLength(2);
    expect(readdirSync(one.rt.models)).toEqual(['.parts']);
  });
});

describe('a broken line', () => {
  it('resets at random places: the same bytes in the end, and never a step back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: model.length - 1 }), { minLength: 1, maxLength: 5 }), async (places) => {
        const steps: Step[] = places.map((at) => ({ body: model, resetAt: at }));
        await using one = await oneFile([...steps, { body: model }]);
        const { jobId } = await one.rt.downloads.start(modelId);
        for (let i = 0; i <= places.length; i++) {
          const job = await one.rt.until(jobId, 'waiting', 'installed');
          if (job.phase === 'installed') break;
          await one.clock.advanceAsync(61_000);
        }
        await expectWhole(one.rt, jobId);
        const starts = one.server.requests.map((request) => Number(/\d+/.exec(request.headers['range'] ?? '0')?.[0]));
        expect(starts).toEqual([...starts].sort((x, y) => x - y));
        expect(one.rt.job(jobId).restarted).toBeNull();
      }),
      { numRuns: 8 },
    );
  });

  it('a reset waits 1, 2, 4 … s and says so; eight failures later it waits for the network, each 5 min', async () => {
    await using one = await oneFile([{ body: model, resetAt: 0 }]);
    const { jobId } = await one.rt.downloads.start(modelId);
    const delays: number[] = [];
    for (let i = 0; i < 10; i++) {
      const job = await one.rt.until(jobId, 'waiting');
      expect(job.error?.code).toBe('NO_NETWORK');
      const delay = Date.parse(job.nextTryAt ?? '') - one.clock.nowMs();
      delays.push(delay);
      expect(job.waitingFor).toBe(i < 8 ? 'retry' : 'network');
      const before = one.server.requests.length;
      await one.clock.advanceAsync(delay);
      await untilTrue(
        () => one.server.requests.length > before && one.rt.job(jobId).phase === 'waiting',
        () => 'the next try',
      );
    }
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 300, 300].map((s) => s * 1000));
  });

  it('silence for 30 s is a stall: it reconnects with Range (DL-17)', async () => {
    await using one = await oneFile([{ body: model, stallAt: 300_000 }, { body: model }]);
    const { jobId } = await one.rt.downloads.start(modelId);
    await untilTrue(
      () => one.rt.job(jobId).received >= cut,
      () => 'bytes',
    );
    await one.clock.advanceAsync(29_000);
    expect(one.rt.job(jobId).phase).toBe('downloading');
    await one.clock.advanceAsync(2_000);
    const job = await one.rt.until(jobId, 'waiting');
    expect(job).toMatchObject({ error: { code: 'DOWNLOAD_STALLED' }, received: 300_000 });
    await one.clock.advanceAsync(1_000);
    await expectWhole(one.rt, jobId);
    expect(one.server.requests[1]?.headers['range']).toBe('bytes=300000-');
  });

  it('after sleep it reconnects at once, without calling it a failure', async () => {
    await using one = await oneFile([{ body: model, stallAt: 300_000 }, { body: model }]);
    const { jobId } = await one.rt.downloads.start(modelId);
    await untilTrue(
      () => one.rt.job(jobId).received >= cut,
      () => 'bytes',
    );
    one.clock.jump(90_000);
    await one.clock.advanceAsync(1_000);
    await expectWhole(one.rt, jobId);
    expect(one.rt.job(jobId).attempts).toBe(1);
  });

  it('a server that is not there is NO_NETWORK', async () => {
    const server = await faultServer([]);
    const url = server.url('/m.gguf');
    await server[Symbol.asyncDispose]();
    await using rt = createHarness({ targets: [targetOf(model, [url])], clock: createFakeClock() });
    const { jobId } = await rt.downloads.start(modelId);
    expect(await rt.until(jobId, 'waiting')).toMatchObject({ waitingFor: 'retry', error: { code: 'NO_NETWORK' } });
  });

  it('a body that is compressed although identity was asked counts by its decoded bytes (BC-04)', async () => {
    await using one = await oneFile([{ body: model, gzip: true }]);
    const { jobId } = await one.rt.downloads.start(modelId);
    await expectWhole(one.rt, jobId);
    expect(one.server.requests[0]?.headers['accept-encoding']).toBe('identity');
    expect(one.rt.job(jobId).total).toBe(model.length);
  });

  it('an unknown length shows no percent while it runs', async () => {
    await using one = await oneFile([{ body: model, length: null, stallAt: 300_000 }], { target: { bytes: null } });
    const { jobId } = await one.rt.downloads.start(modelId);
    await untilTrue(
      () => one.rt.job(jobId).received >= cut,
      () => 'bytes',
    );
    expect(one.rt.job(jobId)).toMatchObject({ total: null, etaMs: null });
  });
});

describe('what a server says', () => {
  it.each<[number, string, string]>([
    [404, 'failed', 'SOURCE_FILE_MISSING'],
    [410, 'failed', 'SOURCE_FILE_MISSING'],
    [401, 'failed', 'HUB_GATED_REPO'],
    [403, 'failed', 'HUB_GATED_REPO'],
    [400, 'failed', 'DOWNLOAD_HTTP'],
    [500, 'waiting', 'DOWNLOAD_HTTP'],
    [503, 'waiting', 'DOWNLOAD_HTTP'],
    [408, 'waiting', 'DOWNLOAD_HTTP'],
    [429, 'waiting', 'DOWNLOAD_HTTP'],
  ])('%i: %s with %s', async (status, phase, code) => {
    await using one = await oneFile([{ status, body: 'no' }]);
    const { jobId } = await one.rt.downloads.start(modelId);
    expect(await one.rt.until(jobId, 'waiting', 'failed')).toMatchObject({ phase, error: { code } });
  });

  it('429 with Retry-After: waits as told, in seconds and by date; a long wait asks the person (BC-05)', async () => {
    const clock = createFakeClock();
    const date = new Date(clock.nowMs() + 4000 + 20_000).toUTCString();
    await using one = await oneFile(
      [
        { status: 429, headers: { 'retry-after': '4' } },
        { status: 429, headers: { 'retry-after': date } },
        { status: 429, headers: { 'retry-after': '3600' } },
        { body: model },
      ],
      { clock },
    );
    const { jobId } = await one.rt.downloads.start(modelId);
    const first = await one.rt.until(jobId, 'waiting');
    expect(Date.parse(first.nextTryAt ?? '') - clock.nowMs()).toBe(4000);
    await clock.advanceAsync(3_999);
    expect(one.server.requests).toHaveLength(1);
    await clock.advanceAsync(1);
    await untilTrue(
      () => one.server.requests.length === 2 && one.rt.job(jobId).phase === 'waiting',
      () => 'the second answer',
    );
    expect(Math.abs(Date.parse(one.rt.job(jobId).nextTryAt ?? '') - Date.parse(date))).toBeLessThan(1000);
    await clock.advanceAsync(20_500);
    await untilTrue(
      () => one.server.requests.length === 3 && one.rt.job(jobId).phase === 'waiting',
      () => 'the third answer',
    );
    expect(one.rt.job(jobId)).toMatchObject({ waitingFor: 'retry', nextTryAt: null });
    await clock.advanceAsync(2 * 60 * 60_000);
    expect(one.server.requests).toHaveLength(3);
    await one.rt.downloads.resume(jobId);
    await expectWhole(one.rt, jobId);
  });

  it('a missing file sends the job to the next mirror and then to the next source', async () => {
    await using server = await faultServer([
      { path: '/a.gguf', status: 404 },
      { path: '/b.gguf', status: 403 },
      { path: '/c.gguf', body: model },
    ]);
    const sources = [{ kind: 'hub' as const, url: server.url('/a.gguf'), mirrors: [server.url('/b.gguf')] }, server.url('/c.gguf')];
    await using rt = createHarness({ targets: [targetOf(model, sources)] });
    const { jobId } = await rt.downloads.start(modelId);
    await expectWhole(rt, jobId);
    expect(server.requests.map((request) => request.path)).toEqual(['/a.gguf', '/b.gguf', '/c.gguf']);
    expect(rt.job(jobId).error).toBeNull();
  });
});

describe('redirects (DL-08, DL-11)', () => {
  it('each attempt starts at the source; the tag of another host is never sent to this one', async () => {
    await using server = await faultServer([
      { path: '/m.gguf', redirect: 'b:/blob', sign: true, headers: { etag: '"source"' } },
      { path: '/blob', steps: [{ body: model, resetAt: 300_000 }, { body: model }] },
    ]);
    const clock = createFakeClock();
    await using rt = createHarness({ targets: [targetOf(model, [server.url('/m.gguf')])], clock });
    const { jobId } = await rt.downloads.start(modelId);
    await rt.until(jobId, 'waiting');
    await clock.advanceAsync(1000);
    await expectWhole(rt, jobId);
    expect(server.requests.map((request) => `${request.host} ${request.path}`)).toEqual([
      'a /m.gguf',
      'b /blob?sig=1',
      'a /m.gguf',
      'b /blob?sig=2',
    ]);
    expect(server.requests[2]?.headers['if-range']).toBeUndefined();
    expect(server.requests[3]?.headers['if-range']).toBe(etagOf(model));
    expect(rt.job(jobId).host).toBe(`127.0.0.1:${server.portB}`);
  });

  it('an expired link is no error: a fresh one is fetched from the source (BC-06)', async () => {
    await using server = await faultServer([
      { path: '/m.gguf', steps: [{ redirect: 'b:/blob?sig=old' }, { redirect: 'b:/blob', sign: true }] },
      { path: '/blob', steps: [{ status: 403 }, { body: model }] },
    ]);
    await using rt = createHarness({ targets: [targetOf(model, [server.url('/m.gguf')])] });
    const { jobId } = await rt.downloads.start(modelId);
    await expectWhole(rt, jobId);
    expect(rt.job(jobId).attempts).toBe(1);
    expect(server.requests).toHaveLength(4);
  });

  it('links that always expire end in a counted failure, not in a storm', async () => {
    await using server = await faultServer([
      { path: '/m.gguf', redirect: 'b:/blob', sign: true },
      { path: '/blob', status: 403 },
    ]);
    await using rt = createHarness({ targets: [targetOf(model, [server.url('/m.gguf')])], clock: createFakeClock() });
    const { jobId } = await rt.downloads.start(modelId);
    expect(await rt.until(jobId, 'waiting', 'failed')).toMatchObject({ error: { code: 'DOWNLOAD_HTTP', data: { status: 403 } } });
    expect(server.requests.length).toBeLessThanOrEqual(8);
  });

  it('a loop and eleven hops are too many, ten are not (RB-14)', async () => {
    const hops = Array.from({ length: 11 }, (_, i) => ({ path: `/h${i}`, redirect: `/h${i + 1}` }));
    await using server = await faultServer([
      { path: '/loop', redirect: '/loop2' },
      { path: '/loop2', redirect: '/loop' },
      ...hops,
      { path: '/h11', body: model },
    ]);
    for (const [path, code] of [
      ['/loop', 'DOWNLOAD_TOO_MANY_REDIRECTS'],
      ['/h0', 'DOWNLOAD_TOO_MANY_REDIRECTS'],
      ['/h1', null],
    ] as const) {
      await using rt = createHarness({ targets: [targetOf(model, [server.url(path)])] });
      const { jobId } = await rt.downloads.start(modelId);
      const job = await rt.until(jobId, 'failed', 'installed');
      expect(job.error?.code ?? null).toBe(code);
    }
  });

  it.each(['file:///etc/hostname', 'ftp://127.0.0.1/m.gguf', 'data:text/plain,GGUF'])('a redirect to %s is refused', async (redirect) => {
    await using one = await oneFile([{ redirect }]);
    const { jobId } = await one.rt.downloads.start(modelId);
    expect(await one.rt.until(jobId, 'failed')).toMatchObject({ error: { code: 'DOWNLOAD_INSECURE_REDIRECT' } });
    expect(existsSync(one.rt.modelPath())).toBe(false);
  });
});

describe('disk (DL-04 … DL-06)', () => {
  const gb = 1024 ** 3;

  it('a start without room is refused with figures, and leaves no job', async () => {
    const files = { ...createFiles(), freeBytes: async () => gb };
    await using one = await oneFile([{ body: model }], { files });
    await expect(one.rt.downloads.start(modelId)).rejects.toMatchObject({
      code: 'DISK_FULL',
      data: { neededBytes: model.length + gb, freeBytes: gb },
    });
    expect(one.rt.downloads.value().jobs).toEqual([]);
    expect(one.server.requests).toEqual([]);
  });

  it('a write that fails for want of space keeps the part, waits, looks each 30 s, and goes on when there is room (RB-19)', async () => {
    let free = 10 * gb;
    const real = createFiles();
    const files = {
      ...real,
      freeBytes: async () => free,
      async openWritable(path: string) {
        const file = await real.openWritable(path);
        return {
          ...file,
          async write(bytes: Uint8Array, position: number) {
            if (free < gb && position + bytes.length > 350_000) throw new AppError('DISK_FULL', { neededBytes: 0, freeBytes: 0 });
            await file.write(bytes, position);
          },
        };
      },
    };
    await using one = await oneFile([{ body: model, bytesPerSecond: 1_000_000 }, { body: model }], { files });
    const { jobId } = await one.rt.downloads.start(modelId);
    await untilTrue(
      () => one.rt.job(jobId).received >= cut,
      () => 'bytes',
    );
    free = 600 * 1024 * 1024;
    const waiting = await one.rt.until(jobId, 'waiting', 'installed');
    expect(waiting).toMatchObject({ waitingFor: 'disk', error: { code: 'DISK_FULL', data: { freeBytes: free } } });
    expect(Number(waiting.error?.data['neededBytes'])).toBeGreaterThan(gb);
    const kept = readFileSync(one.rt.partPath(jobId)).length;
    expect(kept).toBe(262_144);
    // The database still writes.
    one.rt.db.prepare("INSERT INTO ledger (at, reason, host, asker, result) VALUES (1, 'update', 'x', 'x', 'ok')").run();
    await one.clock.advanceAsync(30_000);
    expect(await one.rt.until(jobId, 'waiting')).toMatchObject({ waitingFor: 'disk' });
    expect(one.server.requests).toHaveLength(1);
    free = 10 * gb;
    await one.clock.advanceAsync(30_000);
    await expectWhole(one.rt, jobId);
    expect(one.server.requests[1]?.headers['range']).toBe(`bytes=${kept}-`);
  });

  it('other write errors end the job as STORE_IO', async () => {
    const real = createFiles();
    const files = {
      ...real,
      async openWritable(path: string) {
        const file = await real.openWritable(path);
        return { ...file, write: () => Promise.reject(new AppError('STORE_IO')) };
      },
    };
    await using one = await oneFile([{ body: model }], { files });
    const { jobId } = await one.rt.downloads.start(modelId);
    expect(await one.rt.until(jobId, 'failed')).toMatchObject({ error: { code: 'STORE_IO' }, resumable: true });
  });
});

describe('the offline switch (DL-30)', () => {
  it('stops what runs, refuses requests at the door, and goes on when it is turned back', async () => {
    let isOff = false;
    await using one = await oneFile([{ body: model, stallAt: 300_000 }, { body: model }], { offline: () => isOff });
    const { jobId } = await one.rt.downloads.start(modelId);
    await untilTrue(
      () => one.rt.job(jobId).received >= cut,
      () => 'bytes',
    );
    isOff = true;
    one.rt.downloads.offlineChanged();
    expect(one.rt.job(jobId)).toMatchObject({ phase: 'waiting', waitingFor: 'policy', nextTryAt: null });
    await one.clock.advanceAsync(60 * 60_000);
    expect(one.server.requests).toHaveLength(1);
    isOff = false;
    one.rt.downloads.offlineChanged();
    await expectWhole(one.rt, jobId);
  });
});
