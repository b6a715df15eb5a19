import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, expect, it } from 'vitest';
import { verifies } from '../helpers/verifies.ts';

// Types play no part in these rules, so the fixtures need no file and no program.
const eslint = new ESLint({
  overrideConfig: [
    { files: ['**/*.{ts,tsx}'], ...tseslint.configs.disableTypeChecked, languageOptions: { parserOptions: { project: null } } },
  ],
});

async function complaints(filePath: string, code: string): Promise<string[]> {
  const [result] = await eslint.lintText(code, { filePath });
  return (result?.messages ?? [])
    .filter((message) => message.ruleId !== '@typescript-eslint/no-unused-vars')
    .map((message) => message.ruleId ?? message.message);
}

const doors = [
  ['fetch', `await fetch('http://127.0.0.1');`],
  ['globalThis.fetch', `await globalThis.fetch('http://127.0.0.1');`],
  ['WebSocket', `export const socket = new WebSocket('ws://127.0.0.1');`],
  ['EventSource', `export const source = new EventSource('http://127.0.0.1');`],
  ['node:https', `import { request } from 'node:https';\nexport const r = request;`],
  ['node:net', `import net from 'node:net';\nexport const r = net;`],
  ['node:tls', `import { connect } from 'node:tls';\nexport const r = connect;`],
  ['node:dgram', `import { createSocket } from 'node:dgram';\nexport const r = createSocket;`],
  ['node:dns/promises', `import { lookup } from 'node:dns/promises';\nexport const r = lookup;`],
  ['undici', `import { request } from 'undici';\nexport const r = request;`],
  ['ws', `import { WebSocket as Socket } from 'ws';\nexport const r = Socket;`],
] as const;

const clocks = [
  ['Date.now', 'export const now = Date.now();'],
  ['new Date', 'export const now = new Date();'],
  ['performance.now', 'export const now = performance.now();'],
  ['setTimeout', 'setTimeout(() => undefined, 5);'],
  ['setInterval', 'setInterval(() => undefined, 5);'],
  ['node:timers/promises', `import { setTimeout as wait } from 'node:timers/promises';\nexport const r = wait;`],
] as const;

describe('one door to the network', () => {
  it.each(doors)('%s is refused in the runtime, in engines, in native code and in main', async (_name, code) => {
    verifies('PV-03');
    for (const file of [
      'src/runtime/models/x.ts',
      'src/runtime/agent/x.ts',
      'src/shared/util/x.ts',
      'src/engine/workers/x.ts',
      'native/llama/x.ts',
      'src/main/app/x.ts',
    ]) {
      expect(await complaints(file, code), file).not.toEqual([]);
    }
  });

  it('the door itself may use it', async () => {
    for (const [, code] of doors) expect(await complaints('src/runtime/platform/fetch.ts', code)).toEqual([]);
  });

  it('the loopback server may listen and not call', async () => {
    expect(await complaints('src/runtime/http/x.ts', `import { createServer } from 'node:http';\nexport const r = createServer;`)).toEqual(
      [],
    );
    expect(await complaints('src/runtime/http/x.ts', doors[0][1])).not.toEqual([]);
    expect(await complaints('src/runtime/http/x.ts', doors[3][1])).not.toEqual([]);
  });

  it('the page has its one socket in lib', async () => {
    expect(await complaints('src/renderer/lib/x.ts', doors[2][1])).toEqual([]);
    expect(await complaints('src/renderer/features/chat/x.ts', doors[2][1])).not.toEqual([]);
    expect(await complaints('src/renderer/lib/x.ts', doors[0][1])).not.toEqual([]);
  });

  it('no comment in a file switches a rule off', async () => {
    const code = `// eslint-disable-next-line\nawait fetch('http://127.0.0.1');`;
    expect(await complaints('src/runtime/models/x.ts', code)).toContain('no-restricted-globals');
  });
});

describe('time comes from a Clock', () => {
  it.each(clocks)('%s is refused in the runtime and in shared', async (_name, code) => {
    expect(await complaints('src/runtime/agent/x.ts', code)).not.toEqual([]);
    expect(await complaints('src/shared/domain/x.ts', code)).not.toEqual([]);
  });

  it('a date that is made from a number is no clock', async () => {
    expect(await complaints('src/shared/domain/x.ts', 'export const at = new Date(5).toISOString();')).toEqual([]);
  });
});

describe('handwriting', () => {
  it('ipcRenderer stays in the preload script', async () => {
    const code = `import { ipcRenderer } from 'electron';\nipcRenderer.send('x');`;
    expect(await complaints('src/main/app/x.ts', code)).not.toEqual([]);
    expect(await complaints('src/preload/index.ts', code)).toEqual([]);
  });

  it('exports have names', async () => {
    expect(await complaints('src/runtime/agent/x.ts', 'export default 5;')).toContain('no-restricted-syntax');
    expect(await complaints('src/runtime/agent/x.ts', `export * from './y.ts';`)).toContain('no-restricted-syntax');
  });
});
