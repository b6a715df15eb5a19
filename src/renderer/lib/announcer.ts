import { create } from 'zustand';

/** The one polite region of the page (UX-124, UX-125). The same words twice in a row are one announcement. */
export const useAnnouncer = create<{ readonly text: string; readonly say: (text: string) => void }>((set) => ({
  text: '',
  say: (text) => set({ text }),
}));

/**
 * The sentences of a growing text that are whole and were not given yet.
 *
 * @param from  UTF-16 offset up to which was given before.
 * @returns     the new sentences and the offset after them.
 */
export function wholeSentences(text: string, from: number, done: boolean): { sentences: string; end: number } {
  const rest = text.slice(from);
  if (done) return { sentences: rest.trim(), end: text.length };
  let end = 0;
  // A sentence is whole when something follows its end mark.
  for (const match of rest.matchAll(/[.!?…。！？]["”’)\]]*\s+|\n{2,}/g)) end = match.index + match[0].length;
  return { sentences: rest.slice(0, end).trim(), end: from + end };
}
