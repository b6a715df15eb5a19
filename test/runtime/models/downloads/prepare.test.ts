import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { DownloadTarget, Prepare } from '../../../../src/runtime/models/ports.ts';
import type { Packages } from '../../../../src/runtime/models/sources/packages.ts';
import { AppError } from '../../../../src/shared/errors/appError.ts';
import { deferred } from '../../../../src/shared/util/deferred.ts';
import { faultServer } from '../../../helpers/faultServer.ts';
import { createHarness, type Harness, modelId, sha256 } from '../harness.ts';

// Loopback and real files on a machine that may be busy: a wait is bounded by its state, not by the default of 5 s.
vi.setConfig({ testTimeout: 30_000 });

const fetched = Buffer.alloc(200_000, 'as it is fetched ');
const made = Buffer.alloc(150_000, 'as it is used ');
const parts = [{ kind: 'package', client: 'pip', parts: [{ name: 'voice', version: '1.0.0', member: 'voice.bin' }] }] as const;

const target = (sources: DownloadTarget['sources']): DownloadTarget => ({
  modelId,
  name: 'Tiny voice',
  slot: 'speak',
  runtimeClass: 'kokoro',
  file: { name: 'fetched.pack', bytes: fetched.length, sha256: sha256(fetched) },
  prepare: { kind: 'float-conv', file: { name: 'used.pack', bytes: made.length, sha256: sha256(made) } },
  sources,
});
const overHttp = (url: string) => target([{ kind: 'hub', url, mirrors: [] }]);

/** Writes what it should, and tells what it was given. */
function preparer(bytes = made) {
  const calls: { from: Buffer; to: string }[] = [];
  const prepare: Prepare = async ({ from, to }, { onProgress }) => {
    calls.push({ from: readFileSync(from), to });
    onProgress(0.5);
    writeFileSync(to, bytes);
    return { bytes: bytes.length, sha256: sha256(bytes) };
  };
  return { calls, prepare };
}

const files = (rt: Harness) => (existsSync(join(rt.models, modelId)) ? readdirSync(join(rt.models, modelId)) : []);

describe('a file that is made ready after it was fetched', () => {
  it('the fetched bytes are proven as they came, the prepared ones are listed by their own hash, with the speed of the trial', async () => {
    await using server = await faultServer([{ path: '/v', body: fetched }]);
    const { calls, prepare } = preparer();
    const tried: string[] = [];
    await using rt = createHarness({
      targets: [overHttp(server.url('/v'))],
      prepare,
      trial: async (path) => {
        tried.push(sha256(readFileSync(path)));
        return { speedFactor: 0.42 };
      },
    });
    const { jobId } = await rt.downloads.start(modelId);
    const job = await rt.until(jobId, 'installed', 'failed');
    expect(job).toMatchObject({ phase: 'installed', error: null });
    expect(calls).toHaveLength(1);
    expect(calls[0]?.from.equals(fetched)).toBe(true);
    expect(tried).toEqual([sha256(made)]);
    expect(files(rt)).toEqual(['used.pack']);
    expect(rt.registry.list()).toMatchObject([{ sha256: sha256(made), bytes: made.length, state: 'proven', speedFactor: 0.42 }]);
    expect(readFileSync(await rt.registry.path(modelId)).equals(made)).toBe(true);
    expect(readdirSync(rt.parts)).toEqual([]);
  });

  it('wrong fetched bytes never reach the preparation', async () => {
    await using server = await faultServer([{ path: '/v', body: Buffer.alloc(fetched.length, 'other') }]);
    const { calls, prepare } = preparer();
    await using rt = createHarness({ targets: [overHttp(server.url('/v'))], prepare });
    const { jobId } = await rt.downloads.start(modelId);
    expect(await rt.until(jobId, 'failed')).toMatchObject({ error: { code: 'DOWNLOAD_HASH_MISMATCH' } });
    expect(calls).toEqual([]);
  });

  it('something else than was promised is no model, and nothing of it is listed', async () => {
    await using server = await faultServer([{ path: '/v', body: fetched }]);
    await using rt = createHarness({ targets: [overHttp(server.url('/v'))], prepare: preparer(Buffer.alloc(made.length, 'x')).prepare });
    const { jobId } = await rt.downloads.start(modelId);
    expect(await rt.until(jobId, 'failed')).toMatchObject({ error: { code: 'MODEL_FILE_CORRUPT' } });
    expect(files(rt)).toEqual([]);
    expect(rt.registry.list()).toEqual([]);
  });

  it('how far it is shows while it lasts; a cancel ends it, and a later start prepares again without fetching again', async () => {
    await using server = await faultServer([{ path: '/v', body: fetched }]);
    const inside = deferred<void>();
    let tries = 0;
    const { prepare } = preparer();
    await using rt = createHarness({
      targets: [overHttp(server.url('/v'))],
      async prepare(job, options) {
        tries += 1;
        if (tries > 1) return prepare(job, options);
        writeFileSync(job.to, made.subarray(0, 1000));
        options.onProgress(0.25);
        inside.resolve();
        return new Promise((_, reject) => options.signal.addEventListener('abort', () => reject(new AppError('CANCELLED'))));
      },
    });
    const { jobId } = await rt.downloads.start(modelId);
    await inside.promise;
    expect(rt.job(jobId)).toMatchObject({ phase: 'verifying', prepared: 0.25 });
    expect(await rt.downloads.cancel(jobId)).toMatchObject({ phase: 'cancelled' });
    expect(rt.job(jobId).prepared).toBeUndefined();
    expect(files(rt)).toEqual([]);
    await rt.downloads.start(modelId);
    await rt.until(jobId, 'installed');
    expect(server.requests).toHaveLength(1);
    expect(files(rt)).toEqual(['used.pack']);
  });

  it('packages are not fetched anew when it was cut short while it was made ready', async () => {
    let fetches = 0;
    const packages: Packages = {
      clear: async () => {},
      async fetch({ part }) {
        fetches += 1;
        await part.restart();
        await part.append(fetched);
        await part.flush();
      },
    };
    const reached = deferred<void>();
    const never: Prepare = ({ to }, { signal }) => {
      writeFileSync(to, made.subarray(0, 1000));
      reached.resolve();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new AppError('CANCELLED'))));
    };
    await using rt = createHarness({
      targets: [target([...parts].map((part) => ({ ...part, parts: [...part.parts] })))],
      packages,
      prepare: never,
    });
    const { jobId } = await rt.downloads.start(modelId);
    await reached.promise;
    // The process ends in the middle: half a file lies beside the whole part, and the row says what was proven.
    await using after = await rt.restart({ prepare: preparer().prepare });
    await after.downloads.recover();
    await after.until(jobId, 'installed', 'failed');
    expect(fetches).toBe(1);
    expect(after.registry.list()).toMatchObject([{ sha256: sha256(made), state: 'proven' }]);
    expect(files(after)).toEqual(['used.pack']);
  });
});
