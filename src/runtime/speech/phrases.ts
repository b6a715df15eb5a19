const MAX = 200;
const COMMA_WORDS = 4;

export type Phrase = { readonly text: string; readonly start: number; readonly end: number };

/**
 * A text as phrases for the voice (VO-60, VO-61): after . ! ? ; : … and their CJK forms, at a line break, at a comma from four words on, and at
 * 200 characters at the latest, between words where there is a space. Every word is in one of them; none begins with punctuation only.
 */
export function phrasesOf(text: string): Phrase[] {
  const phrases: Phrase[] = [];
  let start = 0;
  const take = (end: number) => {
    const piece = text.slice(start, end);
    const from = start + (piece.length - piece.trimStart().length);
    const trimmed = piece.trim();
    const previous = phrases.at(-1);
    // Nothing but signs: it belongs to what was said before.
    if (trimmed !== '' && (/[\p{L}\p{N}]/u.test(trimmed) || previous === undefined)) {
      phrases.push({ text: trimmed, start: from, end: from + trimmed.length });
    } else if (trimmed !== '' && previous !== undefined && previous.text.length + trimmed.length < MAX) {
      phrases[phrases.length - 1] = { ...previous, text: `${previous.text}${trimmed}`, end: from + trimmed.length };
    }
    start = end;
  };
  for (let at = 0; at < text.length; at += 1) {
    if (endsHere(text, start, at)) take(at + 1);
    else if (at + 1 - start >= MAX) {
      const space = text.lastIndexOf(' ', at);
      // Never between the halves of a sign.
      const whole = /[\uD800-\uDBFF]/.test(text[at] ?? '') ? at : at + 1;
      take(space > start ? space + 1 : whole);
    }
  }
  take(text.length);
  return phrases;
}

const abbreviation = /(?:^|[\s(])(?:\p{L}|Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|No|Inc|Ltd|Jr|Sr)$/u;

function endsHere(text: string, start: number, at: number): boolean {
  const sign = text[at] ?? '';
  const next = text[at + 1] ?? ' ';
  if (sign === '\n' || /[。！？；：…]/.test(sign)) return true;
  if (!/\s/.test(next)) return false;
  if (sign === '.') return !abbreviation.test(text.slice(start, at));
  if (/[!?;:]/.test(sign)) return true;
  if (sign !== ',') return false;
  return text.slice(start, at).trim().split(/\s+/).length >= COMMA_WORDS;
}
