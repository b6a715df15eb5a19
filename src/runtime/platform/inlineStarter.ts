import type { ProcessExit, ProcessSpec, ProcessStarter } from '../../shared/supervision/processStarter.ts';

/** The child's end of an in-memory pair. */
export type InlineChild = {
  readonly spec: ProcessSpec;
  post(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  exit(code: number): void;
  /** Called when the parent kills: the child must stop doing things; its messages go nowhere from then on. */
  onKill(listener: () => void): void;
};

/**
 * Children in memory, for tests and for platforms without processes. Every message is cloned as a real channel clones it, so that a
 * function in a payload fails at once; order and asynchrony are those of a channel.
 *
 * @param main  runs the child; called on a later turn, as a real child starts later.
 */
export function createInlineStarter(main: (child: InlineChild) => void): ProcessStarter {
  let pids = 0;
  return {
    start(spec) {
      const pid = ++pids;
      let exit: ProcessExit | null = null;
      const toParent = new Set<(message: unknown) => void>();
      const toChild = new Set<(message: unknown) => void>();
      const exits = new Set<(exit: ProcessExit) => void>();
      const kills = new Set<() => void>();
      const early: unknown[] = [];
      const end = (how: ProcessExit) => {
        if (exit !== null) return;
        exit = how;
        queueMicrotask(() => {
          for (const listener of exits) listener(how);
        });
      };
      const child: InlineChild = {
        spec,
        post(message) {
          if (exit !== null) return;
          const copy: unknown = structuredClone(message);
          queueMicrotask(() => {
            for (const listener of toParent) listener(copy);
          });
        },
        onMessage(listener) {
          toChild.add(listener);
          for (const message of early.splice(0)) listener(message);
        },
        exit: (code) => end({ code, signal: null }),
        onKill(listener) {
          kills.add(listener);
        },
      };
      queueMicrotask(() => {
        if (exit === null) main(child);
      });
      return {
        pid: () => (exit === null ? pid : null),
        post(message) {
          if (exit !== null) return;
          const copy: unknown = structuredClone(message);
          queueMicrotask(() => {
            if (exit !== null) return;
            if (toChild.size === 0) early.push(copy);
            for (const listener of toChild) listener(copy);
          });
        },
        onMessage(listener) {
          toParent.add(listener);
        },
        onExit(listener) {
          exits.add(listener);
        },
        kill() {
          if (exit !== null) return;
          for (const listener of kills) listener();
          end({ code: null, signal: 'SIGKILL' });
        },
      };
    },
  };
}
