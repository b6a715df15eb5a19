import { readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { createCatalogue } from '../../../src/runtime/models/catalogue.ts';
import { ModelId } from '../../../src/shared/domain/ids.ts';
import { faultServer } from '../../helpers/faultServer.ts';
import { tinyGguf } from '../../helpers/ggufBytes.ts';
import { createHarness, modelId, targetOf } from './harness.ts';

// Loopback and real files on a machine that may be busy: a wait is bounded by its state, not by the default of 5 s.
vi.setConfig({ testTimeout: 30_000 });

const model = tinyGguf({ data: 50_000 });

async function installed() {
  const server = await faultServer([{ path: '/m.gguf', body: model }]);
  const rt = createHarness({ targets: [targetOf(model, [server.url('/m.gguf')])] });
  const { jobId } = await rt.downloads.start(modelId);
  await rt.until(jobId, 'installed');
  return {
    rt,
    server,
    async [Symbol.asyncDispose]() {
      await rt[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('the registry looks before a file is used (REG-05)', () => {
  it('a file that is gone is not listed as usable, and can be fetched again', async () => {
    await using one = await installed();
    rmSync(one.rt.modelPath());
    await one.rt.registry.verify();
    expect(one.rt.registry.list()).toMatchObject([{ state: 'rejected', reason: 'missing' }]);
    await expect(one.rt.registry.path(modelId)).rejects.toMatchObject({ code: 'MODEL_NOT_INSTALLED' });
    const { jobId, joined } = await one.rt.downloads.start(modelId);
    expect(joined).toBe(false);
    await one.rt.until(jobId, 'installed');
    expect(one.rt.registry.list()).toMatchObject([{ state: 'proven', reason: null }]);
    expect(await one.rt.registry.path(modelId)).toBe(one.rt.modelPath());
  });

  it('a file of another size, or with other bytes of the same size, is not opened; a new download sets it beside', async () => {
    await using one = await installed();
    const changed = Buffer.from(model);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    for (const bytes of [model.subarray(0, 1000), changed]) {
      writeFileSync(one.rt.modelPath(), bytes);
      utimesSync(one.rt.modelPath(), 1, 1);
      await expect(one.rt.registry.path(modelId)).rejects.toMatchObject({ code: 'MODEL_FILE_CORRUPT' });
      expect(one.rt.registry.list()).toMatchObject([{ state: 'rejected', reason: 'changed' }]);
    }
    const { jobId } = await one.rt.downloads.start(modelId);
    await one.rt.until(jobId, 'installed');
    expect(readFileSync(await one.rt.registry.path(modelId)).equals(model)).toBe(true);
  });

  it('a copy with another time and inode is hashed once and then believed', async () => {
    await using one = await installed();
    writeFileSync(`${one.rt.modelPath()}.copy`, model);
    renameSync(`${one.rt.modelPath()}.copy`, one.rt.modelPath());
    const before = one.rt.installed.get(modelId)?.inode;
    expect(await one.rt.registry.path(modelId)).toBe(one.rt.modelPath());
    expect(one.rt.installed.get(modelId)?.inode).not.toBe(before);
    expect(one.rt.registry.list()).toMatchObject([{ state: 'proven' }]);
  });

  it('a link that was put in its place is refused', async () => {
    await using one = await installed();
    renameSync(one.rt.modelPath(), `${one.rt.modelPath()}.real`);
    symlinkSync(`${one.rt.modelPath()}.real`, one.rt.modelPath());
    await expect(one.rt.registry.path(modelId)).rejects.toMatchObject({ code: 'MODEL_FILE_CORRUPT' });
  });

  it('a file that lies in its place already needs no network: it is proven, tried and listed', async () => {
    await using one = await installed();
    const rt = one.rt;
    rt.db.exec('DELETE FROM installed_models; DELETE FROM downloads');
    await using next = await rt.restart();
    const { jobId } = await next.downloads.start(modelId);
    await next.until(jobId, 'installed');
    expect(one.server.requests).toHaveLength(1);
    expect(next.registry.list()).toHaveLength(1);
  });
});

describe('the shipped catalogue', () => {
  const shipped: unknown = JSON.parse(readFileSync('resources/catalogue.json', 'utf8'));

  it('is read without a loss and holds one starter of each slot; the one that answers says that it is small', () => {
    const catalogue = createCatalogue(shipped);
    expect(catalogue.skipped).toEqual([]);
    const all = catalogue.list().filter((entry) => entry.starter);
    expect(all.map((entry) => entry.slot).sort()).toEqual(['activity', 'language', 'listen', 'speak']);
    const starters = all.filter((entry) => entry.slot === 'language');
    expect(starters).toMatchObject([
      {
        id: 'smollm2-135m-instruct-q4_1',
        slot: 'language',
        file: { bytes: 98_362_432, sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53' },
        licence: { id: 'Apache-2.0' },
      },
    ]);
    expect(starters[0]?.about).toMatch(/small/);
  });

  it('names no address but https ones', () => {
    for (const entry of createCatalogue(shipped).list()) {
      for (const source of entry.sources) if (source.kind === 'hub') expect([source.url, ...source.mirrors].join()).not.toMatch(/http:/);
    }
  });

  it('an entry of an unknown kind costs only itself; a doubled id, a path as name or a foreign file are refused', () => {
    const [entry] = createCatalogue(shipped).list();
    const of = (...entries: unknown[]) => createCatalogue({ schemaVersion: 1, entries });
    expect(of(entry, { ...entry, id: 'other', runtimeClass: 'fused' }).skipped).toEqual([{ index: 1, reason: 'runtimeClass' }]);
    for (const name of ['../x.gguf', 'a/b', '.hidden', 'x.', 'CON', 'nul.gguf', '', 'a\u202eb', 'x'.repeat(200)]) {
      expect(of({ ...entry, file: { ...entry?.file, name } }).list(), name).toEqual([]);
    }
    expect(() => of(entry, entry)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    expect(() => createCatalogue({ entries: [] })).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    expect(of(entry).find(ModelId.parse('nobody'))).toBeNull();
  });
});
