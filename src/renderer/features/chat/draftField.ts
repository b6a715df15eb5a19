import { createStore, type StoreApi } from 'zustand/vanilla';
import type { SessionId } from '../../../shared/domain/ids.ts';
import { type AppError, toAppError } from '../../../shared/errors/appError.ts';
import { directionOf } from '../../lib/direction.ts';
import type { Drafts } from '../../lib/drafts.ts';
import { isTooLong, utf8Bytes } from '../../lib/sending.ts';

/** What is known of the text in the field. `characters` and `bytes` are counted only from `longCharacters` on, else 0. */
export type FieldState = {
  readonly characters: number;
  readonly bytes: number;
  readonly empty: boolean;
  readonly tooLong: boolean;
  /** Why the draft of this chat could not be read. */
  readonly unreadable: AppError | null;
};

/** From this length on the text is measured and said; the field also takes its largest height at once instead of laying it out. */
const longCharacters = 20_000;

export type DraftField = {
  readonly state: StoreApi<FieldState>;
  /** The element on the page, or null when it goes. */
  readonly attach: (element: HTMLTextAreaElement | null) => void;
  /** Shows the draft of a chat, until the returned function is called. */
  readonly open: (sessionId: SessionId | null) => () => void;
  readonly text: () => string;
  /** Looks at the text again and keeps it as the draft: after a key, a paste. */
  readonly changed: () => void;
  readonly fit: () => void;
  readonly put: (text: string) => void;
  /** The text became a message: field and draft are empty. */
  readonly sent: () => void;
  readonly focus: () => void;
};

/**
 * The text field of a chat with its draft. React does not hold the text: a 1 MB paste stays quick because nothing of it is drawn again
 * per key. What is typed while a draft is read wins over the draft.
 */
export function createDraftField(drafts: Drafts): DraftField {
  const state = createStore<FieldState>(() => ({ ...sizeOf(''), unreadable: null }));
  let area: HTMLTextAreaElement | null = null;
  let sessionId: SessionId | null = null;
  let opened = false;

  const fit = () => {
    if (area === null) return;
    const next = sizeOf(area.value);
    const now = state.getState();
    if (next.characters !== now.characters || next.bytes !== now.bytes || next.empty !== now.empty || next.tooLong !== now.tooLong)
      state.setState(next);
    area.dir = directionOf(area.value);
    // Grows with its text up to half of the window; `field-sizing` is not known to Chromium 114.
    area.style.height = 'auto';
    area.style.height = area.value.length > longCharacters ? '50vh' : `${area.scrollHeight}px`;
  };
  const show = (text: string) => {
    if (area !== null) area.value = text;
    fit();
  };
  const changed = () => {
    if (area !== null) drafts.type(sessionId, area.value);
    fit();
  };

  return {
    state,
    attach(element) {
      area = element;
      fit();
    },
    open(id) {
      // What is typed before the first chat is open belongs to it; only the text of another chat makes room.
      const other = opened && sessionId !== id;
      opened = true;
      sessionId = id;
      let wanted = true;
      state.setState({ unreadable: null });
      if (other) show('');
      else if (area !== null && area.value !== '') changed();
      drafts.load(id).then(
        (text) => {
          if (wanted && area?.value === '') show(text);
        },
        (thrown: unknown) => {
          const error = toAppError(thrown);
          if (wanted && error.code !== 'SESSION_NOT_FOUND' && error.code !== 'CANCELLED') state.setState({ unreadable: error });
        },
      );
      return () => {
        wanted = false;
        void drafts.flush();
      };
    },
    text: () => area?.value ?? '',
    changed,
    fit,
    put(text) {
      show(text);
      changed();
      area?.focus();
    },
    sent() {
      drafts.forget();
      show('');
      drafts.type(sessionId, '');
      void drafts.flush();
    },
    focus: () => area?.focus(),
  };
}

function sizeOf(text: string): Omit<FieldState, 'unreadable'> {
  const long = text.length > longCharacters;
  return {
    characters: long ? text.length : 0,
    bytes: long ? utf8Bytes(text) : 0,
    empty: text.trim() === '',
    tooLong: long && isTooLong(text),
  };
}
