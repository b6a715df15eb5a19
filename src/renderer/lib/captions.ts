import type { VoiceView } from '../../shared/domain/voiceView.ts';
import type { Played } from './voiceSession.ts';

/** A word of the spoken answer. `heard`: it has sounded, or does so now. */
export type CaptionWord = { readonly key: string; readonly text: string; readonly heard: boolean };

/**
 * The answer word by word in time with the sound (VO-80): the phrase that sounds is spread by its characters over its length.
 *
 * @param played  how far the loudspeaker of this page is; null where it plays nothing, then no word is ahead of any other.
 * @returns       words of the phrases that the view carries, and the index of the one that sounds; null when none does.
 */
export function captionWords(reply: VoiceView['reply'], played: Played | null): { words: CaptionWord[]; now: number | null } {
  if (reply === null) return { words: [], now: null };
  const own = played !== null && played.generation === reply.generation ? played : null;
  const words: CaptionWord[] = [];
  let now: number | null = null;
  for (const { phrase, text } of reply.phrases) {
    const reached = own === null ? (played === null ? text.length : 0) : reachedIn(own, phrase, text);
    for (const match of text.matchAll(/\S+/g)) {
      const heard = match.index < reached;
      if (heard && own !== null) now = words.length;
      words.push({ key: `${phrase}.${match.index}`, text: match[0], heard });
    }
  }
  return { words, now };
}

/** Characters of the phrase that have sounded. */
function reachedIn(played: Played, phrase: number, text: string): number {
  if (phrase < played.phrase) return text.length;
  if (phrase > played.phrase) return 0;
  // Its length is not known before its last piece is made: until then the pieces that came are taken for all of it.
  return played.totalMs > 0 ? Math.min(1, played.ms / played.totalMs) * text.length : 0;
}

/** Own words: those that stay, and those that may still change (VO-55). */
export function ownWords(caption: NonNullable<VoiceView['caption']>): { stable: string; rest: string } {
  if (caption.final) return { stable: caption.text, rest: '' };
  const stable = caption.text.startsWith(caption.stable) ? caption.stable : '';
  return { stable, rest: caption.text.slice(stable.length) };
}
