import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { quietly, StepProblem } from './steps.mjs';

// What Chromium inside Electron links to and a bare Debian lacks (names of Debian 12 and Ubuntu 22.04).
const windowPackages = ['libgtk-3-0', 'libnotify4', 'libnss3', 'libxss1', 'libxtst6', 'libgbm1', 'libasound2', 'fonts-dejavu-core'];

// What only the tests use: program → package.
const testPrograms = {
  Xvfb: 'xvfb',
  xauth: 'xauth',
  chromium: 'chromium',
  strace: 'strace',
  unshare: 'util-linux',
  ip: 'iproute2',
  cc: 'gcc',
};

/** The path of a program, or null. */
export function findProgram(name) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    if (folder !== '' && existsSync(join(folder, name))) return join(folder, name);
  }
  return null;
}

/** Whether a window can be shown here. */
export const hasDisplay = () =>
  process.platform !== 'linux' || (process.env.DISPLAY ?? '') !== '' || (process.env.WAYLAND_DISPLAY ?? '') !== '';

/** Shared libraries that the program needs and the system lacks. */
export function missingLibraries(binary) {
  if (process.platform !== 'linux') return [];
  const { stdout } = spawnSync('ldd', [binary], { encoding: 'utf8' });
  return [...(stdout ?? '').matchAll(/^\s*(\S+) => not found/gm)].map((match) => match[1]);
}

// Ubuntu 24.04 and Debian 13 renamed the libraries that hold 64-bit times.
function nameHere(name) {
  for (const candidate of [name, `${name}t64`]) {
    const { status, stdout } = spawnSync('apt-cache', ['show', '--no-all-versions', candidate], { encoding: 'utf8' });
    if (status === 0 && stdout.includes(`Package: ${candidate}\n`)) return candidate;
  }
  return name;
}

function aptPrefix() {
  if (findProgram('apt-get') === null) return null;
  if (process.getuid() === 0) return [];
  if (findProgram('sudo') === null) return null;
  return spawnSync('sudo', ['-n', 'true']).status === 0 ? ['sudo', '-n'] : null;
}

function osName() {
  try {
    return /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'this system';
  } catch {
    return 'this system';
  }
}

async function aptInstall(wanted, what, means) {
  const prefix = aptPrefix();
  const list = wanted.join(' ');
  if (prefix === null) {
    const apt = findProgram('apt-get') !== null;
    throw new StepProblem({
      missing: `${what} missing, and this account may not install packages on ${osName()}`,
      means,
      todo: apt ? `sudo apt-get install ${list}` : `install what your system calls these Debian packages: ${list}`,
    });
  }
  const words = { missing: `${what} could not be installed`, means, todo: `apt-get update && apt-get install ${list}` };
  const env = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-o', 'DPkg::Lock::Timeout=120'];
  await quietly('apt-update', [...prefix, ...env, 'update', '-qq'], words);
  const names = wanted.map(nameHere);
  await quietly('apt-install', [...prefix, ...env, 'install', '-y', '-qq', '--no-install-recommends', ...names], words);
  return names.join(' ');
}

/**
 * Sees to it that a window can open: installs what the Electron binary lacks through apt-get where that is allowed.
 *
 * @throws StepProblem naming the packages where it is not.
 */
export async function installWindowLibraries(electron) {
  if (process.platform !== 'linux') return 'part of the system';
  const missing = missingLibraries(electron);
  if (missing.length === 0) return 'already there';
  const note = await aptInstall(windowPackages, `system libraries (${missing.slice(0, 3).join(', ')}, …)`, 'the window cannot open');
  const still = missingLibraries(electron);
  if (still.length > 0) {
    throw new StepProblem({
      missing: `still without ${still.join(', ')}`,
      means: 'the window cannot open',
      todo: 'install the packages that hold these libraries',
    });
  }
  return note;
}

/** Sees to it that the programs that only tests use are there. */
export async function installTestPrograms() {
  if (process.platform !== 'linux') return 'only needed on Linux';
  const missing = Object.entries(testPrograms).filter(([program]) => findProgram(program) === null);
  if (missing.length === 0) return 'already there';
  return await aptInstall(
    [...new Set(missing.map(([, name]) => name))],
    missing.map(([program]) => program).join(', '),
    'tests that need them fail',
  );
}

/** Whether a program runs at all, e.g. `python3 -m pip --version`. */
export function works(command) {
  try {
    execFileSync(command[0], command.slice(1), { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
