/** Time as a dependency. `nowMs` is the wall clock (ms since 1970), `monotonicMs` never jumps and does not count sleep. */
export type Clock = {
  nowMs(): number;
  monotonicMs(): number;
  /** Calls once after `ms`; the returned function takes it back. A timer does not keep the process alive. */
  setTimer(ms: number, callback: () => void): () => void;
};
