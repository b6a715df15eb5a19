import { existsSync, readFileSync } from 'node:fs';
import { inRoot } from './root.mjs';
import { quietly } from './steps.mjs';

/**
 * The first package of the lock file that node_modules lacks or has in another version.
 *
 * @param {Record<string, {integrity?: string, optional?: boolean, peer?: boolean}>} wanted     `packages` of package-lock.json.
 * @param {Record<string, {integrity?: string}>} installed  `packages` of npm's own record of node_modules.
 * @returns {string | null} its path.
 */
export function firstMismatch(wanted, installed) {
  for (const [path, { integrity, optional, peer }] of Object.entries(wanted)) {
    if (path === '') continue;
    const there = installed[path];
    // Optional packages of other platforms are rightly absent.
    if (there === undefined ? optional !== true && peer !== true : there.integrity !== integrity) return path;
  }
  return null;
}

// npm writes its record of node_modules last, so an install that was cut short has none, or the old one.
function isInstalled() {
  const record = inRoot('node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const packagesOf = (file) => JSON.parse(readFileSync(file, 'utf8')).packages;
  return firstMismatch(packagesOf(inRoot('package-lock.json')), packagesOf(record)) === null;
}

/** Installs the npm packages of the lock file, without running any of their install scripts. Does nothing when they are there. */
export async function installPackages() {
  if (isInstalled()) return 'already there';
  // The npm that runs this script; a bare `npm` is a batch file on Windows, which cannot be started without a shell.
  const own = process.env.npm_execpath;
  const npm = own?.endsWith('.js') === true ? [process.execPath, own] : ['npm'];
  await quietly('npm-ci', [...npm, 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    missing: 'npm could not install the packages',
    means: 'nothing can be built or started yet',
    todo: 'check the network and the npm registry of this machine (`npm ping`), then run the command again',
  });
  return undefined;
}
