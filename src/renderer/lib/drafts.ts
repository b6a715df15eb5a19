import { createStore, type StoreApi } from 'zustand/vanilla';
import type { SessionId } from '../../shared/domain/ids.ts';
import { limits } from '../../shared/domain/limits.ts';
import { toAppError } from '../../shared/errors/appError.ts';
import type { Clock } from '../../shared/util/clock.ts';
import type { Connection } from './connection.ts';
import { wellFormed } from './sending.ts';

/** True state of the draft on the screen: `kept` only after the runtime said so. */
export type DraftState = 'kept' | 'typing' | 'keeping' | 'notKept' | 'tooLong';

export type Drafts = {
  readonly state: StoreApi<{ readonly draft: DraftState }>;
  load(sessionId: SessionId | null): Promise<string>;
  /** Called at each change. Stored at most `waitMs` later, so a crash costs at most that much typing (UX-02). */
  type(sessionId: SessionId | null, text: string): void;
  /** Stores what waits, at once: on blur, when the chat is left, before the page goes. */
  flush(): Promise<void>;
  /** What waits is thrown away: the text was sent, or belongs to nothing any more. */
  forget(): void;
};

const waitMs = 400;

export function createDrafts(deps: { connection: Connection; clock: Clock }): Drafts {
  const { connection, clock } = deps;
  const state = createStore<{ readonly draft: DraftState }>(() => ({ draft: 'kept' }));
  let waiting: { sessionId: SessionId | null; text: string } | null = null;
  let takeBack: (() => void) | null = null;
  let running: Promise<void> = Promise.resolve();

  const flush = () => {
    takeBack?.();
    takeBack = null;
    const draft = waiting;
    if (draft === null) return running;
    waiting = null;
    state.setState({ draft: 'keeping' });
    // One after another: an older text must never overtake a newer one.
    running = running.then(async () => {
      try {
        await connection.api.sessions.setDraft(draft);
        if (waiting === null) state.setState({ draft: 'kept' });
      } catch (thrown) {
        const { code } = toAppError(thrown);
        // The chat is gone; there is no place for its draft.
        if (code === 'SESSION_NOT_FOUND') return;
        waiting ??= draft;
        state.setState({ draft: 'notKept' });
        takeBack ??= clock.setTimer(waitMs * 5, () => void flush());
      }
    });
    return running;
  };

  return {
    state,
    async load(sessionId) {
      const { text } = await connection.api.sessions.getDraft({ sessionId });
      return text;
    },
    type(sessionId, text) {
      if (text.length > limits.draftBytes) {
        takeBack?.();
        takeBack = null;
        waiting = null;
        state.setState({ draft: 'tooLong' });
        return;
      }
      if (waiting !== null && waiting.sessionId !== sessionId) void flush();
      waiting = { sessionId, text: wellFormed(text) };
      if (state.getState().draft !== 'typing') state.setState({ draft: 'typing' });
      takeBack ??= clock.setTimer(waitMs, () => void flush());
    },
    flush,
    forget() {
      takeBack?.();
      takeBack = null;
      waiting = null;
      state.setState({ draft: 'kept' });
    },
  };
}
