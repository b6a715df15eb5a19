import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childEnv } from '../../../src/runtime/platform/childEnv.ts';
import { createNodeStarter } from '../../../src/runtime/platform/nodeStarter.ts';
import { pathsOf } from '../../../src/runtime/platform/paths.ts';
import type { ProcessExit, ProcessLink, ProcessSpec } from '../../../src/shared/supervision/processStarter.ts';
import { verifies } from '../../helpers/verifies.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sotto-starter-'));
});
afterAll(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

async function start(source: string, env: Record<string, string> = {}): Promise<ProcessLink> {
  const file = join(dir, `child-${Math.random().toString(36).slice(2)}.mjs`);
  await writeFile(file, source);
  const spec: ProcessSpec = { name: 'test', entry: 'engine', args: ['one', 'two'], env };
  return createNodeStarter({ here: import.meta.url, file: () => file }).start(spec);
}

const nextMessage = (link: ProcessLink) => new Promise<unknown>((resolve) => link.onMessage(resolve));
const exitOf = (link: ProcessLink) => new Promise<ProcessExit>((resolve) => link.onExit(resolve));

function isDead(pid: number): boolean {
  const file = `/proc/${pid}/status`;
  return !existsSync(file) || /^State:\s+[ZX]/m.test(readFileSync(file, 'utf8'));
}

describe('createNodeStarter', () => {
  it('carries typed arrays and undefined both ways, and the arguments', async () => {
    const link = await start(`process.on('message', (m) => process.send({ back: m, args: process.argv.slice(2) }));`);
    const answer = nextMessage(link);
    link.post({ pcm: new Float32Array([0.5, -1]), nothing: undefined, big: 10n });
    expect(await answer).toEqual({ back: { pcm: new Float32Array([0.5, -1]), nothing: undefined, big: 10n }, args: ['one', 'two'] });
    link.kill();
    expect(await exitOf(link)).toMatchObject({ signal: 'SIGKILL' });
  });

  it('ABI-12: gives the child the listed environment and nothing of ours', async () => {
    verifies('ABI-12');
    process.env.SOTTO_TEST_SECRET = 'never';
    const paths = pathsOf(join(dir, 'data'));
    const link = await start(`process.send(process.env); process.on('message', () => {});`, childEnv(paths, process.env));
    const env = (await nextMessage(link)) as Record<string, string>;
    delete process.env.SOTTO_TEST_SECRET;
    expect(env.SOTTO_TEST_SECRET).toBeUndefined();
    expect(env.NODE_OPTIONS).toBeUndefined();
    expect(env.ORT_DISABLE_TELEMETRY).toBe('1');
    for (const name of ['HOME', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'TMPDIR', 'TMP', 'TEMP'])
      expect([name, env[name]?.startsWith(paths.data)]).toEqual([name, true]);
    link.kill();
    await exitOf(link);
  });

  it('hands over what was said just before the exit, then the exit, then nothing', async () => {
    const link = await start(`for (let i = 0; i < 500; i++) process.send(i); process.send('goodbye', () => process.exit(0));`);
    const seen: unknown[] = [];
    link.onMessage((message) => seen.push(message));
    const exit = await exitOf(link);
    expect(exit).toEqual({ code: 0, signal: null });
    expect(seen).toHaveLength(501);
    link.post('nobody hears this');
    expect(await exitOf(link)).toEqual(exit);
  });

  it('kills what the child itself started', async () => {
    const link = await start(
      `import { spawn } from 'node:child_process';
       const grandchild = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
       process.send(grandchild.pid);`,
    );
    const grandchild = Number(await nextMessage(link));
    link.kill();
    await exitOf(link);
    // The signal is sent to the whole group at once; the kernel still has to take the process away.
    while (!isDead(grandchild)) await new Promise((resolve) => setImmediate(resolve));
    expect(isDead(grandchild)).toBe(true);
  });

  it('shows a start that failed as an exit', async () => {
    const link = createNodeStarter({ here: import.meta.url, file: () => join(dir, 'missing.mjs') }).start({
      name: 'x',
      entry: 'engine',
      args: [],
      env: {},
    });
    expect((await exitOf(link)).code).not.toBe(0);
  });
});
