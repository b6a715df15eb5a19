import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { extractFromTgz } from '../../../../src/runtime/models/sources/tar.ts';
import { extractFromZip } from '../../../../src/runtime/models/sources/zip.ts';
import { type MadeMember, paxRecord, tgzBytes, zipBytes } from '../../../helpers/archiveBytes.ts';
import { noise } from '../../../helpers/ggufBytes.ts';

// Loopback and real files on a machine that may be busy: a wait is bounded by its state, not by the default of 5 s.
vi.setConfig({ testTimeout: 30_000 });

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sotto-archive-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const { signal } = new AbortController();
const model = noise(200_000, 3);
const good: MadeMember = { name: 'pkg/model.gguf', data: model };

async function take(kind: 'zip' | 'tgz', members: readonly MadeMember[], bytes?: Buffer, wanted = ['pkg/model.gguf']): Promise<Buffer> {
  const path = join(folder, `${Math.random()}.${kind}`);
  writeFileSync(path, bytes ?? (kind === 'zip' ? zipBytes(members) : tgzBytes(members)));
  const chunks: Uint8Array[] = [];
  let wrote = false;
  try {
    await (kind === 'zip' ? extractFromZip : extractFromTgz)(path, wanted, {
      signal,
      async sink(chunk) {
        wrote = true;
        chunks.push(Uint8Array.from(chunk));
      },
    });
  } catch (error) {
    // Nothing is written before all members are seen to be safe.
    expect(wrote).toBe(false);
    throw error;
  }
  return Buffer.concat(chunks);
}

describe.each(['zip', 'tgz'] as const)('%s', (kind) => {
  it('gives exactly the member', async () => {
    const folderMember: MadeMember = kind === 'zip' ? { name: 'pkg/', mode: 0o040755, stored: true } : { name: 'pkg/', type: '5' };
    const members = [folderMember, { name: 'pkg/__init__.py', data: 'x' }, good, { name: 'pkg/z', data: noise(70_000, 9) }];
    expect((await take(kind, members)).equals(model)).toBe(true);
  });

  it('gives several members as they are named, whatever their order in the archive', async () => {
    const members = ['a', 'b', 'c'].map((name): MadeMember => ({ name: `pkg/${name}`, data: name.repeat(600) }));
    for (const order of ['abc', 'ca', 'cba', 'bb']) {
      const wanted = [...order].map((name) => `pkg/${name}`);
      const joined = [...order].map((name) => name.repeat(600)).join('');
      expect((await take(kind, members, undefined, wanted)).toString()).toBe(joined);
    }
    await expect(take(kind, members, undefined, ['pkg/a', 'pkg/d'])).rejects.toMatchObject({ code: 'SOURCE_FILE_MISSING' });
  });

  it.each<[string, MadeMember]>([
    ['an absolute name', { name: '/etc/passwd', data: 'x' }],
    ['a climbing name', { name: 'pkg/../../x', data: 'x' }],
    ['a drive', { name: 'C:/x', data: 'x' }],
    ['a backslash', { name: 'pkg\\..\\x', data: 'x' }],
    ['the member twice', { name: 'pkg/model.gguf', data: 'other' }],
    ['a name that is the same but for case', { name: 'PKG/Model.GGUF', data: 'other' }],
    ['a link', kind === 'zip' ? { name: 'pkg/link', mode: 0o120777, data: '/etc' } : { name: 'pkg/link', type: '2' }],
    ['a hard link or pipe', kind === 'zip' ? { name: 'pkg/pipe', mode: 0o010644 } : { name: 'pkg/link', type: '1' }],
    ['a device', kind === 'zip' ? { name: 'pkg/dev', mode: 0o020644 } : { name: 'pkg/dev', type: '3' }],
  ])('RB-22: %s is refused before a byte is written', async (_what, evil) => {
    await expect(take(kind, [good, evil])).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE_MEMBER' });
    await expect(take(kind, [evil, good])).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE_MEMBER' });
  });

  it('a bomb is too large', async () => {
    await expect(take(kind, [good, { name: 'pkg/zeros', data: Buffer.alloc(100_000_000) }])).rejects.toMatchObject({
      code: 'ARCHIVE_TOO_LARGE',
    });
  });

  it('20 001 members are too many', async () => {
    const many = Array.from({ length: 20_001 }, (_, i): MadeMember => ({ name: `pkg/${i}`, stored: true }));
    await expect(take(kind, [good, ...many])).rejects.toMatchObject({ code: 'ARCHIVE_TOO_LARGE' });
  });

  it('a member that is not there is a missing file, a cut or foreign file is a damaged package', async () => {
    await expect(take(kind, [{ name: 'pkg/other', data: 'x' }])).rejects.toMatchObject({ code: 'SOURCE_FILE_MISSING' });
    const whole = kind === 'zip' ? zipBytes([good]) : tgzBytes([good]);
    await expect(take(kind, [], whole.subarray(0, whole.length / 2))).rejects.toMatchObject({ code: 'PACKAGE_FETCH_FAILED' });
    await expect(take(kind, [], noise(5000, 2))).rejects.toMatchObject({ code: 'PACKAGE_FETCH_FAILED' });
  });
});

describe('tar extensions', () => {
  it('long names by pax and by GNU are followed, so that they cannot hide a climbing one', async () => {
    const long = `pkg/${'d/'.repeat(80)}x`;
    const pax = (name: string): MadeMember => ({ name: 'PaxHeader', type: 'x', data: paxRecord('path', name) });
    const gnu = (name: string): MadeMember => ({ name: '././@LongLink', type: 'L', data: `${name}\0` });
    const plain: MadeMember = { name: 'short', data: 'x' };
    expect((await take('tgz', [pax(long), plain, good, gnu(long.replace('x', 'y')), plain])).equals(model)).toBe(true);
    expect((await take('tgz', [pax('pkg/model.gguf'), { ...good, name: 'hidden' }])).equals(model)).toBe(true);
    await expect(take('tgz', [pax('../x'), plain, good])).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE_MEMBER' });
    await expect(take('tgz', [gnu('/x'), plain, good])).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE_MEMBER' });
  });
});
