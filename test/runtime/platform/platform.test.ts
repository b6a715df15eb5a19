import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { engineSettings, threadsFor } from '../../../src/runtime/engines/settings.ts';
import { childEnv } from '../../../src/runtime/platform/childEnv.ts';
import { createElectronStarter, type ParentPortLike, type PortLike } from '../../../src/runtime/platform/electronStarter.ts';
import { entryFile } from '../../../src/runtime/platform/entryFile.ts';
import { createInlineStarter } from '../../../src/runtime/platform/inlineStarter.ts';
import { coresOf, createMachine, memAvailable } from '../../../src/runtime/platform/machine.ts';
import { dataDir, pathsOf } from '../../../src/runtime/platform/paths.ts';
import type { ProcessExit, ProcessSpec } from '../../../src/shared/supervision/processStarter.ts';
import { createTestLog, type LogLine } from '../../helpers/testRuntime.ts';
import { verifies } from '../../helpers/verifies.ts';

const spec: ProcessSpec = { name: 'engine:language', entry: 'engine', args: ['language'], env: { A: '1' } };

describe('dataDir', () => {
  it.each([
    [{ SOTTO_DATA_DIR: '/x/y' }, 'linux', '/x/y'],
    [{ SOTTO_DATA_DIR: '', XDG_DATA_HOME: '/xdg' }, 'linux', '/xdg/sotto'],
    [{ XDG_DATA_HOME: 'relative' }, 'linux', '/home/ada/.local/share/sotto'],
    [{}, 'linux', '/home/ada/.local/share/sotto'],
    [{}, 'darwin', '/home/ada/Library/Application Support/Sotto'],
  ] as const)('%o on %s is %s', (env, platform, expected) => {
    expect(dataDir(env, platform, '/home/ada')).toBe(expected);
  });

  it('keeps everything below one folder, models apart if asked', () => {
    const { data, ...rest } = pathsOf('/data');
    expect(Object.values(rest).every((path) => path.startsWith(`${data}/`))).toBe(true);
    expect(pathsOf('/data', '/models')).toMatchObject({ models: '/models', parts: '/models/.parts', database: '/data/sotto.db' });
  });
});

describe('childEnv', () => {
  it('ABI-12: is a list of its own: no options for Node, no secrets, folders inside the data folder', () => {
    verifies('ABI-12');
    const env = childEnv(pathsOf('/data'), {
      PATH: '/bin',
      HOME: '/home/ada',
      NODE_OPTIONS: '--require evil',
      AWS_SECRET_ACCESS_KEY: 'x',
      SOTTO_INFERENCE_LIB_DIR: '/libs',
      LD_PRELOAD: '/evil.so',
    });
    expect(env).toMatchObject({ PATH: '/bin', ORT_DISABLE_TELEMETRY: '1', SOTTO_INFERENCE_LIB_DIR: '/libs' });
    expect(Object.keys(env)).not.toEqual(expect.arrayContaining(['NODE_OPTIONS']));
    expect(JSON.stringify(env)).not.toMatch(/ada|AWS|evil/);
    for (const name of ['HOME', 'XDG_CACHE_HOME', 'TMPDIR']) expect(env[name]).toMatch(/^\/data\//);
  });
});

describe('entryFile', () => {
  it('is the source for a runtime that runs from its sources, and the bundle beside a bundled one', () => {
    const root = join(import.meta.dirname, '../../..');
    expect(entryFile('engine', import.meta.url)).toBe(join(root, 'src/engine/entry/main.ts'));
    expect(entryFile('engine', '/app/out/main/runtime.cjs')).toBe('/app/out/main/engine.cjs');
    expect(entryFile('engine', 'file:///opt/Sotto/resources/app.asar/out/main/utility.cjs')).toBe(
      '/opt/Sotto/resources/app.asar.unpacked/out/main/engine.cjs',
    );
  });
});

describe('machine', () => {
  it('reads what programs can still take, not what is unused', () => {
    expect(memAvailable('MemTotal: 16 kB\nMemFree:  180 kB\nMemAvailable:    6000 kB\n')).toBe(6_144_000);
    expect(memAvailable(null)).toBeNull();
    expect(createMachine(() => null).availableBytes()).toBeGreaterThan(0);
  });

  it('counts cores, not threads', () => {
    const cpu = (id: number, core: number) => `processor\t: ${id}\nphysical id\t: 0\ncore id\t\t: ${core}\n`;
    expect(coresOf([cpu(0, 0), cpu(1, 0)].join('\n'))).toBe(1);
    expect(coresOf('processor\t: 0\nBogoMIPS\t: 50\n')).toBeNull();
  });
});

describe('engine settings', () => {
  it('leave one core free, unless the environment says a number', () => {
    const machine = { logicalCores: () => 8, physicalCores: () => 4 };
    const lines: LogLine[] = [];
    const log = createTestLog(lines);
    expect(threadsFor(engineSettings({}, machine, log), machine)).toBe(3);
    expect(threadsFor(engineSettings({}, machine, log), { physicalCores: () => 1 })).toBe(1);
    expect(threadsFor(engineSettings({ SOTTO_THREADS: '8' }, machine, log), machine)).toBe(8);
    expect(lines).toEqual([]);
    for (const bad of ['9', '0', '-1', '2e1', ' 2 ', '0x2', 'two'])
      expect(engineSettings({ SOTTO_THREADS: bad }, machine, log).threads).toBeNull();
    expect(lines).toHaveLength(7);
    expect(engineSettings({ SOTTO_CONTEXT: '512' }, machine, log).contextSize).toBe(512);
    expect(engineSettings({ SOTTO_TEMPERATURE: '0' }, machine, log).temperature).toBe(0);
    expect(engineSettings({ SOTTO_TEMPERATURE: '0.25' }, machine, log).temperature).toBe(0.25);
    for (const bad of ['3', '-1', 'NaN', '0.2e1', ' 1'])
      expect(engineSettings({ SOTTO_TEMPERATURE: bad }, machine, log).temperature).toBeNull();
  });
});

describe('createInlineStarter', () => {
  it('clones messages, so that a function fails at once and an object is not shared', async () => {
    const inside: unknown[] = [];
    const link = createInlineStarter((child) => child.onMessage((message) => inside.push(message))).start(spec);
    const message = { a: 1 };
    link.post(message);
    message.a = 2;
    await new Promise((resolve) => setImmediate(resolve));
    expect(inside).toEqual([{ a: 1 }]);
    expect(() => link.post({ f: () => {} })).toThrow();
  });

  it('says its exit once, and nothing afterwards', async () => {
    const exits: ProcessExit[] = [];
    const messages: unknown[] = [];
    const link = createInlineStarter((child) => {
      child.post('before');
      child.exit(3);
      child.post('after');
      child.exit(4);
    }).start(spec);
    link.onMessage((message) => messages.push(message));
    link.onExit((exit) => exits.push(exit));
    await new Promise((resolve) => setImmediate(resolve));
    link.kill();
    await new Promise((resolve) => setImmediate(resolve));
    expect(messages).toEqual(['before']);
    expect(exits).toEqual([{ code: 3, signal: null }]);
  });
});

describe('createElectronStarter', () => {
  function setUp() {
    const asked: unknown[] = [];
    let tell: (event: { data: unknown; ports: PortLike[] }) => void = () => {};
    const parent: ParentPortLike = { postMessage: (message) => void asked.push(message), on: (_, listener) => (tell = listener) };
    const sent: unknown[] = [];
    let hear: (data: unknown) => void = () => {};
    let closed = false;
    const port: PortLike = {
      postMessage: (message) => void sent.push(message),
      on(event: 'message' | 'close', listener: ((event: { data: unknown; ports: PortLike[] }) => void) | (() => void)) {
        if (event === 'message') hear = (data) => listener({ data, ports: [] });
      },
      start() {},
      close() {
        closed = true;
      },
    };
    return {
      starter: createElectronStarter(parent),
      asked,
      sent,
      port,
      tell: (data: unknown, ports: PortLike[] = []) => tell({ data, ports }),
      hear: (data: unknown) => hear(data),
      closed: () => closed,
    };
  }

  it('asks main, keeps what is posted until the port comes, then speaks straight to the engine', () => {
    const { starter, asked, sent, port, tell, hear } = setUp();
    const link = starter.start(spec);
    link.post('hello');
    expect(asked).toEqual([
      { k: 'engine.start', id: 1, spec: { name: 'engine:language', entry: 'engine', args: ['language'], env: { A: '1' } } },
    ]);
    expect(sent).toEqual([]);
    tell({ k: 'engine.started', id: 1, pid: 77 }, [port]);
    expect(sent).toEqual(['hello']);
    expect(link.pid()).toBe(77);
    const heard: unknown[] = [];
    link.onMessage((message) => heard.push(message));
    hear('ready');
    expect(heard).toEqual(['ready']);
  });

  it('takes the exit from main, and drops what comes after it', () => {
    const { starter, asked, port, tell, hear, closed } = setUp();
    const link = starter.start(spec);
    const exits: ProcessExit[] = [];
    const heard: unknown[] = [];
    link.onExit((exit) => exits.push(exit));
    link.onMessage((message) => heard.push(message));
    tell({ k: 'engine.started', id: 1, pid: 77 }, [port]);
    link.kill();
    expect(asked.at(-1)).toEqual({ k: 'engine.kill', id: 1 });
    tell({ k: 'engine.exit', id: 1, code: 9 });
    tell({ k: 'engine.exit', id: 1, code: 9 });
    hear('late');
    expect(exits).toEqual([{ code: 9, signal: null }]);
    expect(heard).toEqual([]);
    expect(closed()).toBe(true);
  });

  it('closes the port of an engine that nobody waits for, and ignores other news', () => {
    const { port, tell, closed } = setUp();
    tell({ k: 'engine.started', id: 5, pid: 1 }, [port]);
    tell('something else');
    expect(closed()).toBe(true);
  });
});
