import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { AppError } from '../../../shared/errors/appError.ts';
import { packageEnv } from './packageEnv.ts';
import { type ClientRun, runClient } from './runClient.ts';

const probeMs = 20_000;

/** How Python is called here; `py -3` is the Windows launcher. */
const candidates: readonly (readonly string[])[] =
  process.platform === 'win32' ? [['py', '-3'], ['python'], ['python3']] : [['python3'], ['python']];

/**
 * Finds a Python 3 that has pip.
 *
 * @returns  the command with its first arguments; `null` if there is none.
 */
export async function findPython(env: Readonly<Record<string, string | undefined>>, tmp: string): Promise<readonly string[] | null> {
  for (const candidate of candidates) {
    const found = await answer([...candidate, '-m', 'pip', '--version'], packageEnv(env, tmp));
    if (found !== null && !/\(python 2\b/.test(found)) return candidate;
  }
  return null;
}

/**
 * Fetches one wheel into `folder`: the exact version, no dependencies, no build, no script (DL-31). Host, proxy and login are those
 * of the person's pip configuration.
 *
 * @throws AppError PACKAGE_CLIENT_MISSING, PACKAGE_FETCH_FAILED, DOWNLOAD_STALLED, CANCELLED.
 */
export async function pipDownload(
  spec: { name: string; version: string },
  run: ClientRun & { python: readonly string[] | null; folder: string; tmp: string; env: Readonly<Record<string, string | undefined>> },
): Promise<void> {
  if (run.python === null) throw new AppError('PACKAGE_CLIENT_MISSING', { client: 'pip' });
  const [command = 'python3', ...first] = run.python;
  const options = ['--no-deps', '--only-binary=:all:', '--no-input', '--no-cache-dir', '--disable-pip-version-check', '--progress-bar=off'];
  const args = [...first, '-m', 'pip', 'download', ...options, '-d', run.folder, `${spec.name}==${spec.version}`];
  await runClient('pip', run, () =>
    // Its own process group, so that a cancel ends whatever pip itself started.
    spawn(command, args, {
      cwd: run.folder,
      env: packageEnv(run.env, run.tmp),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      windowsHide: true,
    }),
  );
}

export function tmpBelow(folder: string): string {
  return join(folder, 'tmp');
}

function answer(command: readonly string[], env: Record<string, string>): Promise<string | null> {
  const [file = '', ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'ignore'], timeout: probeMs, killSignal: 'SIGKILL' });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString('utf8')).slice(0, 4096);
    });
    child.once('error', () => resolve(null));
    child.once('close', (code) => resolve(code === 0 ? text : null));
  });
}
