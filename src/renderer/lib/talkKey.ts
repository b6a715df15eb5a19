/** Where a press comes from. One counts at a time: the others are nothing until it is over (VO-30). */
export type TalkSource = 'chord' | 'pointer' | 'button';

export type TalkKey = {
  /** @param atMs  when it happened, on the monotonic clock. */
  down(source: TalkSource, atMs?: number): void;
  up(source: TalkSource): void;
  /** Lost focus, hidden page, locked screen: whatever is held is let go (VO-105). */
  letGo(): void;
  /**
   * Presses go there instead, until the returned function is called: first run lets the key be tried without talking (UX-20).
   */
  borrow(deeds: TalkDeeds): () => void;
};

export type TalkDeeds = { readonly press: (atMs?: number) => void; readonly release: () => void };

/** One talk key of several sources. A source that is down already says nothing by going down again: that is auto-repeat. */
export function createTalkKey(owner: TalkDeeds): TalkKey {
  let held: TalkSource | null = null;
  let deeds = owner;
  const letGo = () => {
    if (held === null) return;
    held = null;
    deeds.release();
  };
  return {
    down(source, atMs) {
      if (held !== null) return;
      held = source;
      deeds.press(atMs);
    },
    up(source) {
      if (held === source) letGo();
    },
    letGo,
    borrow(other) {
      letGo();
      deeds = other;
      return () => {
        if (deeds !== other) return;
        letGo();
        deeds = owner;
      };
    },
  };
}

export const isMac = (): boolean => /mac/i.test(navigator.platform);

/** As it is written for a person. */
export const talkChord = (): string => (isMac() ? '⌥⇧Space' : 'Ctrl Alt Space');

type KeyLike = Pick<KeyboardEvent, 'code' | 'key' | 'ctrlKey' | 'altKey' | 'shiftKey' | 'metaKey' | 'getModifierState'>;

/** Whether this key-down completes the chord (UX-85). AltGr is no Ctrl Alt: on many layouts it types. */
export function isTalkChord(event: KeyLike): boolean {
  if (event.code !== 'Space' && event.key !== ' ') return false;
  if (isMac()) return event.altKey && event.shiftKey && !event.ctrlKey && !event.metaKey;
  return event.ctrlKey && event.altKey && !event.shiftKey && !event.metaKey && !event.getModifierState('AltGraph');
}

/** Whether this key-up takes a key of the chord away. */
export function endsTalkChord(event: Pick<KeyboardEvent, 'code' | 'key'>): boolean {
  if (event.code === 'Space' || event.key === ' ') return true;
  return isMac() ? event.key === 'Alt' || event.key === 'Shift' : event.key === 'Control' || event.key === 'Alt';
}
