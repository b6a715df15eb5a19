// `npm run test:long [-- --only NAME,…]`: the long proofs, one after the other. Each writes what it found itself; here stands which ran, when,
// how long, and how they ended. `test/long.result.json` is committed when a release is made.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { only: { type: 'string' }, seed: { type: 'string', default: '2026' } } });
const { seed } = values;
const node = (...args: string[]) => [process.execPath, ...args];
const proofs: Readonly<Record<string, { command: readonly string[]; env?: Readonly<Record<string, string>> }>> = {
  crash: { command: node('test/crash/run.ts', '--kills', '1000', '--seed', seed), env: { DISPLAY: '', WAYLAND_DISPLAY: '' } },
  asr: { command: node('test/eval/run.ts', 'asr', '--seed', seed) },
  'speech-text': { command: node('test/eval/run.ts', 'speech-text', '--seed', seed) },
  'talk-key': { command: node('test/eval/run.ts', 'talk-key', '--seed', seed) },
  voice: {
    command: node('node_modules/playwright/cli.js', 'test', '--project=web', '--project=electron', 'voice.spec'),
    env: { SOTTO_LONG: '1', DISPLAY: '', WAYLAND_DISPLAY: '' },
  },
};
const names = values.only?.split(',') ?? Object.keys(proofs);
const file = 'test/long.result.json';
const known = (() => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  } catch {
    return {};
  }
})();
for (const name of names) {
  const proof = proofs[name];
  const [program, ...args] = proof?.command ?? [];
  if (proof === undefined || program === undefined) {
    console.error(`no long proof called ${name}; there are ${Object.keys(proofs).join(', ')}`);
    process.exit(64);
  }
  console.log(`… ${name}`);
  const startedAt = new Date();
  const { status } = spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, ...proof.env } });
  const minutes = Math.round((Date.now() - startedAt.getTime()) / 6_000) / 10;
  known[name] = { at: startedAt.toISOString(), seed, minutes, passed: status === 0 };
  writeFileSync(file, `${JSON.stringify(known, null, 2)}\n`);
  if (status !== 0) process.exitCode = 1;
}
