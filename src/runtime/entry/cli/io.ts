import { MessageChannel } from 'node:worker_threads';
import { AppError } from '../../../shared/errors/appError.ts';

/** What a command may touch of its terminal. Results go to `out`, everything else to `err` (CLI-02). */
export type Io = {
  out(text: string): void;
  err(text: string): void;
  /** True when a person watches `err`: only then are lines redrawn. */
  readonly terminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Calls back at each SIGINT or SIGTERM; the returned function stops that. */
  onSignal(listener: (signal: 'SIGINT' | 'SIGTERM') => void): () => void;
  /** Ends the process at once. */
  exit(code: number): never;
};

export function processIo(): Io {
  // `sotto models list | head -1`: whoever read has gone, which is no fault of ours, and no reason for a server to end.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    terminal: process.stderr.isTTY === true && process.env.TERM !== 'dumb',
    env: process.env,
    onSignal(listener) {
      const int = () => listener('SIGINT');
      const term = () => listener('SIGTERM');
      process.on('SIGINT', int);
      process.on('SIGTERM', term);
      return () => {
        process.off('SIGINT', int);
        process.off('SIGTERM', term);
      };
    },
    exit: (code) => process.exit(code),
  };
}

/**
 * Keeps the process alive while a command waits: the timers of our clock do not, and a wait for one of them could end the process in
 * the middle of its orderly end.
 */
export async function holding<T>(work: () => Promise<T>): Promise<T> {
  const { port1 } = new MessageChannel();
  port1.on('message', () => {});
  try {
    return await work();
  } finally {
    port1.close();
  }
}

/** 64: wrong usage. The others are those of the error tables. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Work that Ctrl-C stops: `signal` ends it, and what it throws then is CANCELLED; a second Ctrl-C leaves at once.
 *
 * @throws AppError CANCELLED; UsageError and what else `work` throws.
 */
export async function stoppable<T>(io: Io, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  let exit: number | null = null;
  const stopListening = io.onSignal((signal) => {
    const code = signal === 'SIGINT' ? 130 : 143;
    if (exit !== null) io.exit(code);
    exit = code;
    abort.abort();
  });
  try {
    return await work(abort.signal);
  } catch (error) {
    if (exit === null || error instanceof UsageError) throw error;
    throw new AppError('CANCELLED', {}, { cause: error });
  } finally {
    stopListening();
  }
}

/** One line on `err` that is redrawn while a person watches; nothing otherwise. */
export function createStatus(io: Io, quiet: boolean): (text: string) => void {
  let line = '';
  return (text) => {
    if (!io.terminal || quiet || text === line) return;
    io.err(`\r\x1b[K${text}`);
    line = text;
  };
}
