import { useLayoutEffect, useRef } from 'react';
import type { VoiceView } from '../../shared/domain/voiceView.ts';
import { captionWords, ownWords } from '../lib/captions.ts';
import type { Played } from '../lib/voiceSession.ts';

const looks = { bar: 'text-ui', hero: 'text-display' } as const;
const lines = { bar: 'max-h-captions', hero: '' } as const;

/**
 * What is said, as it is understood: words that stay in full colour, words that may still change in grey. Two lines that roll: the
 * newest stand at the end.
 */
export function OwnCaption(props: { caption: NonNullable<VoiceView['caption']>; label: string; size?: 'bar' | 'hero' }) {
  const size = props.size ?? 'bar';
  const { stable, rest } = ownWords(props.caption);
  const box = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  });
  return (
    <p ref={box} dir="auto" aria-label={props.label} className={`overflow-hidden [overflow-wrap:anywhere] ${looks[size]} ${lines[size]}`}>
      <span data-words="stable" className="text-text">
        {stable}
      </span>
      <span data-words="unstable" className="text-text-3">
        {rest}
      </span>
    </p>
  );
}

/** What Sotto says, each word darkening as it is heard (VO-80). The line that sounds is the first of two. */
export function ReplyCaption(props: {
  reply: NonNullable<VoiceView['reply']>;
  played: Played | null;
  label: string;
  size?: 'bar' | 'hero';
}) {
  const size = props.size ?? 'bar';
  const { words, now } = captionWords(props.reply, props.played);
  const box = useRef<HTMLParagraphElement>(null);
  const current = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (box.current === null || current.current === null || size !== 'bar') return;
    box.current.scrollTop = current.current.offsetTop - box.current.offsetTop;
  }, [now, size]);
  return (
    <p ref={box} dir="auto" aria-label={props.label} className={`overflow-hidden [overflow-wrap:anywhere] ${looks[size]} ${lines[size]}`}>
      {words.map((word, i) => (
        <span
          key={word.key}
          ref={i === now ? current : undefined}
          data-heard={word.heard}
          className={word.heard ? 'text-text' : 'text-text-3'}
        >
          {i > 0 && ' '}
          {word.text}
        </span>
      ))}
    </p>
  );
}
