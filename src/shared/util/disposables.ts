/** Something to undo. */
export type Undo = () => void | Promise<void>;

/**
 * Keeps what was opened, to close it in reverse order. A store that is closed closes late comers at once, and a failing undo does not
 * keep the others from running.
 */
export type Disposables = {
  add(undo: Undo): void;
  /** Runs everything once; the first failure is thrown at the end. Calling it again waits for the same end. */
  dispose(): Promise<void>;
  readonly disposed: boolean;
};

export function createDisposables(onLateFailure: (error: unknown) => void = () => {}): Disposables {
  const undos: Undo[] = [];
  let ended: Promise<void> | null = null;
  const run = async () => {
    let failed = false;
    let first: unknown;
    for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
      try {
        await undo();
      } catch (error) {
        if (!failed) first = error;
        failed = true;
      }
    }
    if (failed) throw first;
  };
  return {
    add(undo) {
      if (ended === null) {
        undos.push(undo);
        return;
      }
      try {
        Promise.resolve(undo()).then(undefined, onLateFailure);
      } catch (error) {
        onLateFailure(error);
      }
    },
    dispose() {
      ended ??= run();
      return ended;
    },
    get disposed() {
      return ended !== null;
    },
  };
}
