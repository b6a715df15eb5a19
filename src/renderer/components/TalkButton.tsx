import { Mic } from 'lucide-react';
import { type KeyboardEvent, type PointerEvent, useEffect, useRef } from 'react';
import { voiceWord } from '../../shared/domain/voice.ts';
import { useLive, useServices } from '../lib/services.tsx';
import { talkChord } from '../lib/talkKey.ts';
import { useTexts } from '../lib/texts.ts';
import { Hint } from './IconButton.tsx';

const sizes = { composer: 'size-talk', hero: 'size-talk-hero' } as const;

/**
 * The talk button: held it talks, tapped it stays on, by pointer, and by Space or Enter while it has the focus (VO-30). It does what the
 * talk key does, and one of them counts at a time. While voice is off it turns voice on.
 *
 * @param size  `hero` is the one of the first talk (UX-157).
 */
export function TalkButton({ size = 'composer', side = 'top' }: { size?: 'composer' | 'hero'; side?: 'top' | 'bottom' }) {
  const t = useTexts();
  const { talkKey, voice } = useServices();
  const view = useLive('voice').value;
  const isOff = view === null || view.phase === 'off' || view.phase === 'failed';
  const listens = view !== null && voiceWord(view).word === 'listening';
  /** The button went down by this pointer. */
  const pointer = useRef<number | null>(null);

  // A button that leaves the page while it is held lets go.
  useEffect(
    () => () => {
      talkKey.up('pointer');
      talkKey.up('button');
    },
    [talkKey],
  );

  const onPointerDown = (event: PointerEvent<HTMLButtonElement>) => {
    if (event.button !== 0 || pointer.current !== null) return;
    pointer.current = event.pointerId;
    // What is let go beside the button is let go all the same.
    event.currentTarget.setPointerCapture(event.pointerId);
    talkKey.down('pointer', event.timeStamp);
  };
  const onPointerEnd = (event: PointerEvent) => {
    if (pointer.current !== event.pointerId) return;
    pointer.current = null;
    talkKey.up('pointer');
  };
  const isKey = (event: KeyboardEvent) => event.key === ' ' || event.key === 'Enter';
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isKey(event) || event.ctrlKey || event.altKey || event.metaKey) return;
    // Else the browser would make a click of it.
    event.preventDefault();
    if (!event.repeat) talkKey.down('button', event.timeStamp);
  };
  const name = isOff ? t('voice.turnOn') : t('voice.talk');
  return (
    // Esc drops what is being said, and must not be spent on a hint.
    <Hint quiet={!isOff && view.phase !== 'standby'} text={isOff ? t('voice.turnOn') : t('voice.talkHold')} keys={talkChord()} side={side}>
      <button
        type="button"
        aria-label={name}
        aria-keyshortcuts="Control+Alt+Space"
        aria-pressed={isOff ? undefined : listens}
        onPointerDown={onPointerDown}
        onPointerUp={onPointerEnd}
        onPointerCancel={onPointerEnd}
        onLostPointerCapture={onPointerEnd}
        onPointerEnter={voice.preload}
        onFocus={voice.preload}
        onContextMenu={(event) => event.preventDefault()}
        onKeyDown={onKeyDown}
        onKeyUp={(event) => {
          if (isKey(event)) talkKey.up('button');
        }}
        onBlur={() => talkKey.up('button')}
        onClick={(event) => {
          // Of a pointer it has been dealt with; a screen reader presses without any, and that is a tap.
          if (event.detail !== 0) return;
          talkKey.down('button', event.timeStamp);
          talkKey.up('button');
        }}
        className={`move-press inline-flex shrink-0 touch-none items-center justify-center rounded-full border select-none ${sizes[size]} ${
          listens
            ? 'border-accent bg-accent text-on-accent'
            : isOff
              ? 'border-control text-text-2 hover:bg-hover hover:text-text'
              : 'border-accent text-accent hover:bg-accent-soft'
        }`}
      >
        <Mic size={20} strokeWidth={1.75} aria-hidden="true" />
      </button>
    </Hint>
  );
}
