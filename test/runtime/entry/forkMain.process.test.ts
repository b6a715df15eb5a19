import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';

const entry = path.resolve('src/runtime/entry/forkMain.ts');
const alive = (pid: number) => {
  try {
    // A zombie has a process entry as well.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

describe('the runtime as a process', () => {
  const children: ChildProcess[] = [];
  const folders: string[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const folder = () => {
    const made = mkdtempSync(path.join(tmpdir(), 'sotto-fork-'));
    folders.push(made);
    return made;
  };
  const start = (data: string) => {
    const child = fork(entry, {
      serialization: 'advanced',
      env: { PATH: process.env['PATH'] ?? '', SOTTO_DATA_DIR: data },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    children.push(child);
    const frames: { k: string; error?: { code: string } }[] = [];
    child.on('message', (frame) => frames.push(frame as { k: string }));
    child.send({ k: 'hello', generation: 1 });
    return {
      child,
      frames,
      until: (kind: string) => vi.waitFor(() => expect(frames.map(({ k }) => k)).toContain(kind), { timeout: 20_000 }),
    };
  };

  it('a second runtime on one data folder is refused, and may have it once the first has stopped', async () => {
    const data = folder();
    const first = start(data);
    await first.until('ready');
    const second = start(data);
    await second.until('failed');
    expect(second.frames.at(-1)?.error?.code).toBe('DATA_DIR_IN_USE');
    first.child.send({ k: 'stop', generation: 1 });
    const [code] = (await once(first.child, 'exit')) as [number | null];
    expect([first.frames.at(-1)?.k, code]).toEqual(['goodbye', 0]);
    const third = start(data);
    await third.until('ready');
  });

  it('ends by itself when its parent is killed, so that the next one finds the folder free', async () => {
    const data = folder();
    const parent = fork(path.resolve('test/runtime/entry/runtimeParentMain.ts'), [entry, data], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    children.push(parent);
    const [message] = (await once(parent, 'message')) as [{ pid: number }];
    expect(alive(message.pid)).toBe(true);
    parent.kill('SIGKILL');
    await vi.waitFor(() => expect(alive(message.pid)).toBe(false), { timeout: 20_000 });
    const next = start(data);
    await next.until('ready');
  });
});
