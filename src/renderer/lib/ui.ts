import { create } from 'zustand';
import type { SessionId } from '../../shared/domain/ids.ts';

export type Place = 'chat' | 'models' | 'settings';

/** What dies with the window: which place, which chat, what is open. */
type Ui = {
  readonly place: Place;
  /** null is the chat that does not exist yet. */
  readonly sessionId: SessionId | null;
  readonly listOpen: boolean;
  readonly trashOpen: boolean;
  /** The voice picker lies over the place. */
  readonly voicePicker: boolean;
  readonly query: string;
  /** A search hit to scroll to, once. */
  readonly target: { readonly sessionId: SessionId; readonly sequence: number } | null;
  readonly go: (place: Place) => void;
  readonly openChat: (sessionId: SessionId | null, sequence?: number | null) => void;
  readonly set: (change: Partial<Pick<Ui, 'listOpen' | 'trashOpen' | 'voicePicker' | 'query' | 'target'>>) => void;
};

export const useUi = create<Ui>((set) => ({
  place: 'chat',
  sessionId: null,
  listOpen: true,
  trashOpen: false,
  voicePicker: false,
  query: '',
  target: null,
  go: (place) => set({ place }),
  openChat: (sessionId, sequence) =>
    set({
      place: 'chat',
      sessionId,
      target: sessionId !== null && sequence != null ? { sessionId, sequence } : null,
    }),
  set: (change) => set(change),
}));
