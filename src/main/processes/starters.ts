import { spawn } from 'node:child_process';
import { type MessagePortMain, utilityProcess } from 'electron';
import type { ProcessExit, ProcessLink, ProcessSpec, ProcessStarter } from '../../shared/supervision/processStarter.ts';

/** `utilityProcess`, which can carry ports. */
export function createUtilityStarter(fileOf: (entry: ProcessSpec['entry']) => string): ProcessStarter {
  return {
    start(spec): ProcessLink {
      const child = utilityProcess.fork(fileOf(spec.entry), [...spec.args], {
        env: { ...spec.env },
        serviceName: spec.name,
        stdio: 'inherit',
      });
      let alive = true;
      child.on('exit', () => {
        alive = false;
      });
      return {
        pid: () => child.pid ?? null,
        post(message, transfer = []) {
          if (alive) child.postMessage(message, transfer as MessagePortMain[]);
        },
        onMessage: (listener) => void child.on('message', listener),
        onExit: (listener) => void child.on('exit', (code) => listener({ code, signal: null })),
        kill() {
          // Its own kill() only asks. Before it has a pid there is nothing to end but by asking.
          if (child.pid === undefined) child.kill();
          else killHard(child.pid);
        },
      };
    },
  };
}

/** A plain Node child with an IPC channel. It carries no ports: main relays them. */
export function createNodeStarter(node: string, fileOf: (entry: ProcessSpec['entry']) => string): ProcessStarter {
  return {
    start(spec): ProcessLink {
      const child = spawn(node, [fileOf(spec.entry), ...spec.args], {
        env: { ...spec.env },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        serialization: 'advanced',
        windowsHide: true,
      });
      const exits = new Set<(exit: ProcessExit) => void>();
      let gone: ProcessExit | null = null;
      const end = (exit: ProcessExit) => {
        if (gone !== null) return;
        gone = exit;
        for (const listener of exits) listener(exit);
      };
      child.on('exit', (code, signal) => end({ code, signal }));
      // A binary that cannot be started has no exit event.
      child.on('error', () => {
        if (child.pid === undefined) end({ code: null, signal: null });
      });
      return {
        pid: () => child.pid ?? null,
        post(message) {
          // A child that is just dying refuses: its exit event tells the rest.
          if (gone === null && child.connected) child.send(message as object, () => {});
        },
        onMessage: (listener) => void child.on('message', listener),
        onExit(listener) {
          exits.add(listener);
          if (gone !== null) listener(gone);
        },
        kill: () => void child.kill('SIGKILL'),
      };
    },
  };
}

function killHard(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

/** Where neither form can run: every start is an exit. */
export const noStarter: ProcessStarter = {
  start: () => ({
    pid: () => null,
    post() {},
    onMessage() {},
    onExit: (listener) => queueMicrotask(() => listener({ code: null, signal: null })),
    kill() {},
  }),
};
