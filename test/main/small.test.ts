import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { listPageFiles } from '../../src/main/app/pageFiles.ts';
import { createLog } from '../../src/main/log.ts';
import { mayLoad } from '../../src/main/os/network.ts';
import { runtimeEnvironment } from '../../src/main/processes/environment.ts';
import { runtimeForm } from '../../src/main/processes/form.ts';
import { openingBounds } from '../../src/main/windows/bounds.ts';
import { verifies } from '../helpers/verifies.ts';

describe('main, small parts', () => {
  it('page files: a fixed list, without links and unknown kinds', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sotto-page-'));
    try {
      mkdirSync(path.join(folder, 'assets'));
      writeFileSync(path.join(folder, 'index.html'), 'x');
      writeFileSync(path.join(folder, 'assets', 'a.js'), 'x');
      writeFileSync(path.join(folder, 'assets', 'a.js.map'), 'x');
      symlinkSync('/etc/passwd', path.join(folder, 'assets', 'passwd.txt'));
      const files = listPageFiles(folder);
      expect([...files.keys()].sort()).toEqual(['/', '/assets/a.js', '/index.html']);
      expect(files.get('/assets/a.js')?.type).toBe('text/javascript; charset=utf-8');
      expect(listPageFiles(path.join(folder, 'nothing')).size).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('PV-03: a window loads its own scheme and what it makes itself', () => {
    verifies('PV-03');
    for (const ours of ['app://sotto/', 'blob:app://sotto/1', 'data:image/png;base64,x']) expect(mayLoad(ours, false), ours).toBe(true);
    for (const other of [
      'http://127.0.0.1/',
      'https://example.com/',
      'ws://x/',
      'file:///etc/passwd',
      'ftp://x/',
      'devtools://x/',
      'APP://x',
      '',
    ])
      expect(mayLoad(other, false), other).toBe(false);
    expect(mayLoad('devtools://devtools/x.html', true)).toBe(true);
    expect(mayLoad('https://example.com/', true)).toBe(false);
  });

  it('the runtime sees folders, language and package settings, and nothing of the shell', () => {
    const env = runtimeEnvironment({
      HOME: '/home/me',
      PATH: '/bin',
      LC_ALL: 'C',
      XDG_DATA_HOME: '/d',
      PIP_INDEX_URL: 'x',
      SOTTO_DATA_DIR: '/data',
      SOTTO_NODE: '/node',
      NODE_OPTIONS: '--inspect',
      ELECTRON_RUN_AS_NODE: '1',
      LD_PRELOAD: 'x',
      AWS_SECRET_ACCESS_KEY: 'x',
      SSH_AUTH_SOCK: 'x',
      EMPTY: undefined,
    });
    expect(env).toEqual({
      HOME: '/home/me',
      PATH: '/bin',
      LC_ALL: 'C',
      XDG_DATA_HOME: '/d',
      PIP_INDEX_URL: 'x',
      SOTTO_DATA_DIR: '/data',
      ORT_DISABLE_TELEMETRY: '1',
    });
  });

  it('the runtime is a utility process where Node-API allows it; a packaged app never reads SOTTO_NODE', () => {
    expect(runtimeForm('10', false, undefined)).toEqual({ kind: 'utility' });
    expect(runtimeForm('10', false, '/node')).toEqual({ kind: 'node', node: '/node' });
    expect(runtimeForm('10', true, '/node')).toEqual({ kind: 'utility' });
    // better-sqlite3 would abort the whole process there.
    expect(runtimeForm('8', true, '/node')).toEqual({ kind: 'none' });
    expect(runtimeForm('8', false, '')).toEqual({ kind: 'none' });
    expect(runtimeForm(undefined, false, undefined)).toEqual({ kind: 'none' });
  });

  it('a window opens where it was, unless no screen is there any more', () => {
    const screens = [{ x: 0, y: 0, width: 1600, height: 1200 }];
    expect(openingBounds({ x: 10, y: 20, width: 900, height: 700 }, screens)).toEqual({ x: 10, y: 20, width: 900, height: 700 });
    expect(openingBounds({ x: 3000, y: 20, width: 900, height: 700 }, screens)).toEqual({ width: 900, height: 700 });
    expect(openingBounds({ x: 0, y: 0, width: 10, height: 10 }, screens)).toEqual({ width: 640, height: 480 });
    for (const bad of [
      null,
      'x',
      {},
      { x: 0.5, y: 0, width: 900, height: 700 },
      { x: 0, y: 0, width: -1, height: 5 },
      { x: '1', y: 0, width: 9, height: 9 },
    ])
      expect(openingBounds(bad, screens)).toEqual({ width: 1280, height: 800 });
  });

  it('PV-14: an error in the log is its name and code, never its words', () => {
    const lines: string[] = [];
    const log = createLog(
      (line) => lines.push(line),
      () => 1,
    );
    log.error('x.failed', { n: 1 }, Object.assign(new Error('cannot open /home/me/secret'), { code: 'ENOENT' }));
    expect(lines).toEqual(['{"level":50,"time":1,"name":"main","event":"x.failed","n":1,"cause":"Error","causeCode":"ENOENT"}\n']);
  });
});
