import type { ChildProcess } from 'node:child_process';
import { AppError } from '../../../shared/errors/appError.ts';
import type { Clock } from '../../platform/ports.ts';
import { downloadLimits as limits } from '../limits.ts';

export type ClientRun = {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Bytes that lie in the job's package folders now. */
  readonly measure: () => Promise<number>;
  readonly onBytes: (bytes: number) => void;
};

/**
 * Runs a package client to its end: bytes in the folder are its progress, 60 s without growth is a stall, a cancel kills it.
 *
 * @param start  starts the child; a failure to start shows as its `error` event.
 * @throws AppError PACKAGE_CLIENT_MISSING, PACKAGE_FETCH_FAILED, DOWNLOAD_STALLED, CANCELLED.
 */
export async function runClient(client: 'npm' | 'pip', run: ClientRun, start: () => ChildProcess): Promise<void> {
  if (run.signal.aborted) throw new AppError('CANCELLED');
  const child = start();
  let said = '';
  const listen = (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-limits.packageLogBytes);
  };
  child.stdout?.on('data', listen);
  child.stderr?.on('data', listen);

  let reason: 'stalled' | 'cancelled' | null = null;
  const end = (why: 'stalled' | 'cancelled') => {
    reason ??= why;
    killGroup(child);
  };
  const abort = () => end('cancelled');
  run.signal.addEventListener('abort', abort, { once: true });
  const stopLooking = lookAtGrowth(run, () => end('stalled'));
  try {
    const exit = await exitOf(child);
    if (reason === 'cancelled' || run.signal.aborted) throw new AppError('CANCELLED');
    if (reason === 'stalled') throw new AppError('DOWNLOAD_STALLED', {}, { message: `${client} brought nothing for 60 s` });
    if (exit === 'missing') throw new AppError('PACKAGE_CLIENT_MISSING', { client });
    if (exit !== 0) throw new AppError('PACKAGE_FETCH_FAILED', { client, exitCode: exit, lastLine: lastLine(said) });
  } finally {
    await stopLooking();
    run.signal.removeEventListener('abort', abort);
  }
}

function lookAtGrowth(run: ClientRun, onStall: () => void): () => Promise<void> {
  let largest = -1;
  let grewAt = run.clock.monotonicMs();
  let stopTimer = () => {};
  let stopped = false;
  let looking: Promise<void> = Promise.resolve();
  const look = async () => {
    const bytes = await run.measure().catch(() => largest);
    if (stopped) return;
    const now = run.clock.monotonicMs();
    if (bytes > largest) {
      largest = bytes;
      grewAt = now;
      run.onBytes(bytes);
    } else if (now - grewAt >= limits.packageStallMs) {
      onStall();
      return;
    }
    stopTimer = run.clock.setTimer(limits.packageLookMs, again);
  };
  const again = () => {
    looking = look();
  };
  again();
  return () => {
    stopped = true;
    stopTimer();
    return looking;
  };
}

function exitOf(child: ChildProcess): Promise<number | null | 'missing'> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve('code' in error && error.code === 'ENOENT' ? 'missing' : null));
    child.once('close', (code) => resolve(code));
  });
}

/** By number only: the group where the child leads one, else the child. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

/** What the client said last, for a person: without logins in addresses, at most 200 characters. */
export function lastLine(said: string): string {
  const line = said
    .split(/\r\n|\r|\n/)
    .map((one) => one.trim())
    .findLast((one) => one !== '' && !one.startsWith('[notice]'));
  return (line ?? '').replace(/\/\/[^/@\s]+@/g, '//').slice(0, 200);
}
