import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const file = join(import.meta.dirname, '../../../src/shared/util/crashPoint.ts');
const program = `import { crashPoint } from ${JSON.stringify(file)};
for (const name of ['a', 'b', 'a', 'b']) { crashPoint(name); process.stdout.write(name); }`;

function run(killAt: string | null): Promise<{ signal: string | null; code: number | null; said: string }> {
  return new Promise((resolve) => {
    const { PATH = '' } = process.env;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      env: killAt === null ? { PATH } : { PATH, SOTTO_KILL_AT: killAt },
    });
    let said = '';
    child.stdout.on('data', (text) => {
      said += String(text);
    });
    child.on('close', (code, signal) => resolve({ code, signal, said }));
  });
}

describe('crashPoint', () => {
  it('does nothing without a wish, or with one that is no number', async () => {
    expect(await run(null)).toEqual({ code: 0, signal: null, said: 'abab' });
    expect(await run('soon')).toEqual({ code: 0, signal: null, said: 'abab' });
  });

  it('ends the process at the n-th point, as a power cut does', async () => {
    expect(await run('3')).toMatchObject({ signal: 'SIGKILL', said: 'ab' });
    expect(await run('5')).toEqual({ code: 0, signal: null, said: 'abab' });
  });

  it('can count the points of one name alone', async () => {
    expect(await run('b:2')).toMatchObject({ signal: 'SIGKILL', said: 'aba' });
  });
});
