import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileSink, createLogger, logLimits } from '../../../src/runtime/platform/logger.ts';
import { AppError } from '../../../src/shared/errors/appError.ts';
import { verifies } from '../../helpers/verifies.ts';

function capture() {
  const lines: string[] = [];
  const log = createLogger({ write: (line) => lines.push(line), close: () => {} }, () => Date.UTC(2026, 0, 1));
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown> };
}

describe('createLogger', () => {
  it('writes an event name and plain fields, one line each', () => {
    const { log, lines, last } = capture();
    log.info('download.completed', { modelId: 'tiny', bytes: 5, ok: true, host: null });
    expect(last()).toEqual({
      level: 'info',
      time: '2026-01-01T00:00:00.000Z',
      event: 'download.completed',
      modelId: 'tiny',
      bytes: 5,
      ok: true,
      host: null,
    });
    log.warn('two\nlines');
    expect(lines).toHaveLength(2);
    expect(lines[1]?.split('\n')).toHaveLength(2);
  });

  it.each(['/home/ada/letters.txt', 'C:\\Users\\Ada\\x', '~/letters', 'open "/root/a"', '\\\\server\\share', 'failed (/tmp/x)'])(
    'PV-14: never writes a path, whatever its field is called: %s',
    (value) => {
      verifies('PV-14');
      const { log, lines } = capture();
      log.info('something.happened', { detail: value });
      expect(lines[0]).toContain('[path]');
      expect(lines[0]).not.toMatch(/letters|Users|root|share|tmp/);
    },
  );

  it('PV-14: redacts fields that could hold words or secrets, and cuts long ones', () => {
    verifies('PV-14');
    const { log, last } = capture();
    log.error('x', { text: 'my words', prompt: 'more words', secret: 'sotto_ak_x', detail: 'y'.repeat(5000) });
    expect(last()).toMatchObject({ text: '[redacted]', prompt: '[redacted]', secret: '[redacted]' });
    expect(String(last().detail).length).toBeLessThan(logLimits.fieldCharacters + 2);
  });

  it('PV-14: of a foreign error only class, code and places in the code are written, never its message', () => {
    verifies('PV-14');
    const { log, lines, last } = capture();
    log.error('rpc.internal', {}, Object.assign(new TypeError('you said MARBLE in /home/ada'), { code: 'ENOENT' }));
    expect(lines[0]).not.toMatch(/MARBLE|home|ada/);
    expect(last().cause).toMatchObject({ name: 'TypeError', code: 'ENOENT' });
    expect(JSON.stringify(last().cause)).toContain('logger.test.ts');
    log.error('rpc.internal', {}, new AppError('DISK_FULL', { neededBytes: 1, freeBytes: 0 }, { cause: new Error('MARBLE') }));
    expect(lines[1]).not.toContain('MARBLE');
    expect(last().cause).toMatchObject({ code: 'DISK_FULL', cause: { name: 'Error' } });
    log.error('rpc.internal', {}, 'a thrown MARBLE');
    expect(lines[2]).not.toContain('MARBLE');
  });
});

describe('createFileSink', () => {
  it('keeps two bounded files that only their owner reads', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'sotto-log-'));
    try {
      const folder = join(dir, 'logs');
      const sink = createFileSink(folder, { maxBytes: 1000 });
      for (let i = 0; i < 100; i++) sink.write(`${String(i).padStart(3, '0')} ${'x'.repeat(60)}\n`);
      sink.close();
      expect((await readdir(folder)).sort()).toEqual(['sotto.1.log', 'sotto.log']);
      for (const name of ['sotto.log', 'sotto.1.log']) {
        const facts = await stat(join(folder, name));
        expect(facts.size).toBeLessThan(1100);
        expect(facts.mode & 0o077).toBe(0);
      }
      expect(await readFile(join(folder, 'sotto.log'), 'utf8')).toContain('099 ');
    } finally {
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    }
  });

  it('drops lines that cannot be written instead of failing', () => {
    const sink = createFileSink(join(import.meta.filename, 'a-file-is-no-folder'));
    expect(() => sink.write('x\n')).not.toThrow();
    sink.close();
  });
});
