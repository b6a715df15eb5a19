/**
 * A text in the making. `open`: still as written, character for character, so that later rules may look into it; else it says what the
 * range `start`–`end` of the written text is spoken as.
 */
export type Piece = { readonly text: string; readonly start: number; readonly end: number; readonly open: boolean };

export const written = (text: string): Piece[] => [{ text, start: 0, end: text.length, open: true }];

/** What a match becomes: spoken words, or pieces of the match that stay written, as offsets. `null`: the match is none. */
type Become = string | readonly (readonly [from: number, to: number])[] | null;

/**
 * Replaces matches inside the written pieces.
 *
 * @param pattern  with the flag `g`; lookbehind and lookahead see the present piece only.
 */
export function replace(pieces: readonly Piece[], pattern: RegExp, become: (match: RegExpExecArray) => Become): Piece[] {
  return pieces.flatMap((piece) => (piece.open ? replaceIn(piece, pattern, become) : [piece]));
}

function replaceIn(piece: Piece, pattern: RegExp, become: (match: RegExpExecArray) => Become): Piece[] {
  const out: Piece[] = [];
  let at = 0;
  const keep = (from: number, to: number) => {
    if (to > from) out.push({ text: piece.text.slice(from, to), start: piece.start + from, end: piece.start + to, open: true });
  };
  const say = (text: string, from: number, to: number) => {
    if (to > from) out.push({ text, start: piece.start + from, end: piece.start + to, open: false });
  };
  for (const match of piece.text.matchAll(pattern)) {
    const what = match[0] === '' ? null : become(match);
    if (what === null) continue;
    const [from, to] = [match.index, match.index + match[0].length];
    keep(at, from);
    if (typeof what === 'string') say(what, from, to);
    else {
      let inner = from;
      for (const [start, end] of what) {
        say('', inner, from + start);
        keep(from + start, from + end);
        inner = from + end;
      }
      say('', inner, to);
    }
    at = to;
  }
  keep(at, piece.text.length);
  return out;
}
