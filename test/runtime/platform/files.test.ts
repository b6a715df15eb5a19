import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFiles } from '../../../src/runtime/platform/files.ts';

const files = createFiles();
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sotto-files-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('files', () => {
  it('new folders and files are the owner’s only', async () => {
    await files.makeFolder(join(folder, 'a', 'b'));
    const file = await files.openWritable(join(folder, 'a', 'b', 'c'));
    await file.close();
    expect(statSync(join(folder, 'a', 'b')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'a', 'b', 'c')).mode & 0o777).toBe(0o600);
  });

  it('a link is neither followed nor taken for a file', async () => {
    writeFileSync(join(folder, 'real'), 'secret');
    symlinkSync(join(folder, 'real'), join(folder, 'link'));
    expect(await files.stat(join(folder, 'link'))).toMatchObject({ kind: 'other' });
    await expect(files.openWritable(join(folder, 'link'))).rejects.toMatchObject({ code: 'STORE_IO' });
    await expect(files.openReadable(join(folder, 'link'))).rejects.toMatchObject({ code: 'STORE_IO' });
    expect(readFileSync(join(folder, 'real'), 'utf8')).toBe('secret');
  });

  it.skipIf(!existsSync('/dev/full'))('a full volume is DISK_FULL, every other failure STORE_IO, and neither names a path', async () => {
    const full = await files.openWritable('/dev/full');
    await expect(full.write(new Uint8Array(10), 0)).rejects.toMatchObject({ code: 'DISK_FULL' });
    await full.close();
    const missing = files.openWritable(join(folder, 'no', 'such', 'folder'));
    await expect(missing).rejects.toMatchObject({ code: 'STORE_IO', message: 'ENOENT' });
    mkdirSync(join(folder, 'taken'));
    writeFileSync(join(folder, 'taken', 'x'), '');
    writeFileSync(join(folder, 'file'), '');
    await expect(files.rename(join(folder, 'file'), join(folder, 'taken'))).rejects.toMatchObject({ code: 'STORE_IO' });
  });

  it('what is missing is null, empty or nothing to remove, and free space is a number or null', async () => {
    expect(await files.stat(join(folder, 'none'))).toBeNull();
    expect(await files.list(join(folder, 'none'))).toEqual([]);
    await files.remove(join(folder, 'none'));
    expect(await files.freeBytes(folder)).toBeGreaterThan(0);
    expect(await files.freeBytes(join(folder, 'none'))).toBeNull();
    await files.syncFolder(folder);
  });
});
