import type { TurnId } from '../../../shared/domain/ids.ts';
import type { CancelReason } from '../turn/state.ts';

/** How a spoken turn is ended, wherever it stands (VO-72). */
export type TurnHandle = {
  /** Of this voice service and utterance: also the idempotency key of its commit. */
  readonly runId: string;
  readonly turnId: TurnId;
  /** Of its sound. */
  readonly generation: number;
  readonly signal: AbortSignal;
  /** The first one stays. */
  readonly reason: CancelReason | null;
  /** Ends it everywhere; once. */
  abort(reason: CancelReason): void;
  /** Whoever comes late is told at once. */
  onAbort(listener: (reason: CancelReason) => void): void;
};

export function createTurnHandle(is: Pick<TurnHandle, 'runId' | 'turnId' | 'generation'>): TurnHandle {
  const controller = new AbortController();
  const listeners: ((reason: CancelReason) => void)[] = [];
  let given: CancelReason | null = null;
  return {
    ...is,
    signal: controller.signal,
    get reason() {
      return given;
    },
    abort(reason) {
      if (given !== null) return;
      given = reason;
      controller.abort(reason);
      for (const listener of listeners.splice(0)) listener(reason);
    },
    onAbort(listener) {
      if (given !== null) listener(given);
      else listeners.push(listener);
    },
  };
}
