import { existsSync, readFileSync } from 'node:fs';
import { inRoot } from './root.mjs';
import { quietly } from './steps.mjs';

const readLock = (file) => JSON.parse(readFileSync(file, 'utf8')).packages;

// npm writes its record of node_modules last, so an install that was cut short has none, or the old one.
function mismatch() {
  const record = inRoot('node_modules', '.package-lock.json');
  if (!existsSync(record)) return 'not installed';
  const installed = readLock(record);
  for (const [path, wanted] of Object.entries(readLock(inRoot('package-lock.json')))) {
    if (path === '') continue;
    const there = installed[path];
    // Optional packages of other platforms are rightly absent.
    if (there === undefined ? wanted.optional !== true && wanted.peer !== true : there.integrity !== wanted.integrity) {
      return path.replace('node_modules/', '');
    }
  }
  return null;
}

/** Installs the npm packages of the lock file, without running any of their install scripts. Does nothing when they are there. */
export async function installPackages() {
  if (mismatch() === null) return 'already there';
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  await quietly('npm-ci', [npm, 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    missing: 'npm could not install the packages',
    means: 'nothing can be built or started yet',
    todo: 'check the network and the npm registry of this machine (`npm ping`), then run the command again',
  });
  return undefined;
}
