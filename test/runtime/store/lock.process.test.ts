import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { tempPaths } from '../agent/harness.ts';
import { open } from './helpers.ts';

const runtime = fileURLToPath(new URL('holdFolder.ts', import.meta.url));

async function second(folder: string): Promise<{ child: ChildProcess; said: { code?: string; generation?: number } }> {
  const child = fork(runtime, [folder], { execArgv: [] });
  const ended = once(child, 'exit').then(() => {
    throw new Error('the second runtime ended before it said anything');
  });
  const [said] = (await Promise.race([once(child, 'message'), ended])) as [{ code?: string; generation?: number }];
  return { child, said };
}

async function end(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

it('a second runtime in another process is refused while the first one lives, and let in once it was killed', async () => {
  const paths = tempPaths();
  const { child: holder, said } = await second(paths.data);
  expect(said).toEqual({ generation: 1 });
  await expect(open(paths)).rejects.toMatchObject({ code: 'DATA_DIR_IN_USE' });
  const { child: late, said: refused } = await second(paths.data);
  expect(refused).toEqual({ code: 'DATA_DIR_IN_USE' });
  await end(late);
  await end(holder);
  const store = await open(paths);
  expect(store.generation).toBe(2);
  await store[Symbol.asyncDispose]();
});
