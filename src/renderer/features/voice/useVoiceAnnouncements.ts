import { useEffect, useRef } from 'react';
import type { VoiceWord } from '../../../shared/domain/voice.ts';
import { useAnnouncer } from '../../lib/announcer.ts';
import { useTexts } from '../../lib/texts.ts';

/** Tells a screen reader of each new state, politely (UX-125). Trouble has a place of its own, that interrupts. */
export function useVoiceAnnouncements(word: VoiceWord): void {
  const t = useTexts();
  const say = useAnnouncer((s) => s.say);
  const told = useRef(word);
  useEffect(() => {
    if (told.current === word) return;
    told.current = word;
    if (word !== 'trouble') say(t(`voice.announce.${word}`));
  }, [word, say, t]);
}
