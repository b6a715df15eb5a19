import { type ChildProcess, fork } from 'node:child_process';
import type { ProcessExit, ProcessLink, ProcessSpec, ProcessStarter } from '../../shared/supervision/processStarter.ts';
import { entryFile } from './entryFile.ts';

/** A grandchild that inherited the channel could keep it open for ever. */
const CHANNEL_DRAIN_MS = 500;

/**
 * Children by `child_process.fork` with structured clone. On systems that have them each child leads a process group, so that `kill` also
 * ends what it started.
 *
 * @param deps.here    `import.meta.url` of the running program; decides which entry file is meant.
 * @param deps.file    another entry file (tests).
 * @param deps.onOutput  gets what the child writes to stderr or stdout, cut; default: dropped, since a library may print a path.
 */
export function createNodeStarter(deps: {
  here: string;
  file?: (spec: ProcessSpec) => string;
  onOutput?: (text: string) => void;
}): ProcessStarter {
  const groups = process.platform !== 'win32';
  return {
    start(spec): ProcessLink {
      let exit: ProcessExit | null = null;
      const exits = new Set<(exit: ProcessExit) => void>();
      const ended = (how: ProcessExit) => {
        if (exit !== null) return;
        exit = how;
        const listeners = [...exits];
        exits.clear();
        for (const listener of listeners) listener(how);
      };
      let child: ChildProcess | null = null;
      try {
        child = fork(deps.file?.(spec) ?? entryFile(spec.entry, deps.here), [...spec.args], {
          serialization: 'advanced',
          env: { ...spec.env },
          execArgv: [],
          stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
          detached: groups,
          windowsHide: true,
        });
      } catch {
        queueMicrotask(() => ended({ code: null, signal: null }));
      }
      // Unread pipes would stall a talkative child.
      for (const stream of [child?.stdout, child?.stderr]) {
        stream?.setEncoding('utf8');
        stream?.on('data', (text: string) => deps.onOutput?.(text.slice(0, 4096)));
        stream?.on('error', () => {});
      }
      // The exit may be seen before the last messages are read (a goodbye among them): the channel's end comes after them.
      child?.once('exit', (code, signal) => {
        const how = { code, signal };
        if (child === null || !child.connected) return ended(how);
        child.once('disconnect', () => ended(how));
        setTimeout(() => ended(how), CHANNEL_DRAIN_MS).unref();
      });
      // A program that could not be started has no exit event.
      child?.on('error', () => {
        if (child?.pid === undefined) ended({ code: null, signal: null });
      });
      return {
        pid: () => child?.pid ?? null,
        post(message) {
          if (child === null || exit !== null || !child.connected) return;
          // A channel that breaks shows as the exit; the write's own error adds nothing.
          child.send(asSendable(message), () => {});
        },
        onMessage(listener) {
          child?.on('message', (message: unknown) => {
            if (exit === null) listener(message);
          });
        },
        onExit(listener) {
          if (exit === null) exits.add(listener);
          else listener(exit);
        },
        kill() {
          if (child?.pid === undefined || exit !== null) return;
          try {
            if (groups) process.kill(-child.pid, 'SIGKILL');
            else child.kill('SIGKILL');
          } catch {
            child.kill('SIGKILL');
          }
        },
      };
    },
  };
}

function asSendable(message: unknown): object {
  return typeof message === 'object' && message !== null ? message : { value: message };
}
