import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';

/** What a process and its threads did, as strace saw it. */
export type Trace = {
  /** System calls that made a socket, with their arguments. */
  readonly sockets: readonly string[];
  /** Those of them that reach further than this machine's files. */
  readonly internetSockets: readonly string[];
  /** Absolute paths that were opened for writing, created, renamed or removed. */
  readonly written: readonly string[];
};

/** The program and arguments that write a trace of what follows to `file`. */
export function straceOf(file: string): string[] {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' });
  } catch {
    throw new Error('this test needs strace: `npm run setup` brings it');
  }
  const calls =
    'trace=socket,connect,bind,open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,truncate,symlink,symlinkat,link,linkat';
  return ['strace', '-f', '-qq', '-s', '4096', '-e', calls, '-e', 'signal=none', '-o', file];
}

/** Reads what `straceOf` wrote. Failed opens count too: the attempt is what must not happen. */
export function readTrace(file: string): Trace {
  const lines = readFileSync(file, 'utf8').split('\n');
  const sockets = lines.filter((line) => /\bsocket\(/.test(line));
  const written = lines.flatMap((line) => {
    const call = /^\d+ +(\w+)\((.*)/.exec(line);
    if (call === null) return [];
    const [, name = '', args = ''] = call;
    const writes = name.startsWith('open')
      ? /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND/.test(args)
      : !['socket', 'connect', 'bind'].includes(name);
    return writes ? [...args.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1] ?? '') : [];
  });
  return { sockets, internetSockets: sockets.filter((line) => /AF_INET6?\b/.test(line)), written };
}

/** Paths that lie neither in a folder nor among the devices that hold nothing. */
export function outside(paths: readonly string[], folder: string): string[] {
  const harmless = ['/dev/null', '/dev/tty', '/dev/zero', '/dev/urandom'];
  return paths.filter((path) => {
    const away = relative(folder, isAbsolute(path) ? path : join('/', path));
    return !harmless.includes(path) && (away.startsWith('..') || isAbsolute(away));
  });
}
