import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pinnedNode, withPinnedNode } from './node24.mjs';
import { inRoot } from './root.mjs';
import { quietly } from './steps.mjs';

const inputs = [
  'src',
  'native',
  'resources',
  'build/bundle.mjs',
  'build/entries.ts',
  'build/moduleList.mjs',
  'electron.vite.config.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];
const stamp = inRoot('out', '.inputs.sha256');

function digest() {
  const hash = createHash('sha256');
  const visit = (path) => {
    const full = inRoot(path);
    if (!existsSync(full)) return;
    const entries = tryList(full);
    if (entries === null) hash.update(`${path}\0`).update(readFileSync(full));
    else for (const entry of entries.sort()) visit(join(path, entry));
  };
  for (const path of inputs) visit(path);
  return hash.digest('hex');
}

function tryList(path) {
  try {
    return readdirSync(path);
  } catch (cause) {
    if (cause.code === 'ENOTDIR') return null;
    throw cause;
  }
}

/** Builds out/ from the sources; does nothing when they are the ones it was built from. */
export async function buildApp() {
  const now = digest();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === now && existsSync(inRoot('out', 'main', 'index.cjs'))) return 'already there';
  await quietly('build', [pinnedNode().path, 'build/bundle.mjs'], buildWords, { env: withPinnedNode() });
  mkdirSync(inRoot('out'), { recursive: true });
  writeFileSync(stamp, now);
  return undefined;
}

const buildWords = {
  missing: 'the sources could not be built',
  means: 'there is nothing to start',
  todo: 'read the lines below; `npm run build` shows all',
};
