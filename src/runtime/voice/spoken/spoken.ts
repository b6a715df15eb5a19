import { voiceLimits as limits } from '../limits.ts';
import { sayFigures } from './figures.ts';
import { type SpokenLocale, spokenLocales } from './locales.ts';
import { dropMarkup } from './markup.ts';
import { type Piece, replace, written } from './pieces.ts';

/** `spoken.slice(from, to)` says what stands in the written text from `start` to `end`. In order, without overlap, in both texts. */
export type SpokenRange = { readonly from: number; readonly to: number; readonly start: number; readonly end: number };

export type SpokenForm = { readonly spoken: string; readonly map: readonly SpokenRange[] };

/**
 * What a voice says for a written text (voice page, 10.3). Deterministic, no model: the written text stays as it is, and each spoken word
 * knows the range it stands for. Text without anything to say gives an empty `spoken`.
 *
 * @param text              UTF-16; at most a whole answer.
 * @param options.language  two letters. A language without an entry keeps its figures as they are written.
 * @param options.full      "read it in full": lists and tables are read, whatever their length.
 */
export function spokenForm(text: string, options: { language: string; full?: boolean }): SpokenForm {
  const locale = spokenLocales[options.language];
  const list = options.full === true || locale === undefined ? null : longList(text, options.language);
  let pieces = written(text);
  if (list !== null && locale !== undefined) {
    pieces = replace(pieces, list.pattern, (match) =>
      isLong(match[0], options.language) ? ` ${locale.words.listOnScreen(list.items(match[0]))}\n` : null,
    );
  }
  pieces = dropMarkup(pieces, locale, options.full === true);
  if (locale !== undefined) {
    pieces = sayAll(pieces, locale.abbreviations);
    pieces = sayAll(pieces, locale.signs);
    pieces = sayFigures(pieces, locale);
    pieces = sayCapitals(pieces, locale);
    pieces = replace(pieces, /\$/g, () => '');
  }
  // What no rule took is no word.
  pieces = replace(pieces, /[*_`~|\\{}[\]^#<>←-⇿]+/g, () => ' ');
  pieces = replace(pieces, /\s?\(/g, () => ', ');
  pieces = replace(pieces, /\)(?=\s*(?:[.,;:!?]|$))/g, () => '');
  pieces = replace(pieces, /\)/g, () => ', ');
  // NFKC one character at a time, so that ranges stay true.
  pieces = replace(pieces, /[^\0-\u007f]/gu, (match) => (match[0].normalize('NFKC') === match[0] ? null : match[0].normalize('NFKC')));
  return join(pieces);
}

/** Abbreviations with full stops (rule 8) and signs: before numbers, since "No. 5" is one thing. */
function sayAll(pieces: readonly Piece[], table: readonly (readonly [RegExp, string])[]): Piece[] {
  let out = [...pieces];
  for (const [pattern, spoken] of table) out = replace(out, pattern, () => spoken);
  return out;
}

/** Rule 8: capitals are letters, but for those that are said as words. */
function sayCapitals(pieces: readonly Piece[], locale: SpokenLocale): Piece[] {
  return replace(pieces, /(?<![\p{L}\d])\p{Lu}{2,5}(?=s?(?![\p{L}\d]))/gu, (match) => locale.acronyms[match[0]] ?? [...match[0]].join(' '));
}

/** VO-67: a list that would be spoken in more than 600 characters is named and left on the screen. */
const listPattern = /(?<=^|\n)(?:[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+[^\n]*(?:\n(?=[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t])|$|(?=\n)))+/g;

function longList(text: string, language: string): { pattern: RegExp; items: (list: string) => number } | null {
  const found = text.match(listPattern);
  if (found === null || !found.some((list) => isLong(list, language))) return null;
  return { pattern: listPattern, items: (list) => list.trim().split('\n').length };
}

function isLong(list: string, language: string): boolean {
  return list.length > limits.summaryCharacters / 2 && spokenForm(list, { language, full: true }).spoken.length > limits.summaryCharacters;
}

/** Joins the pieces, folds spaces, and keeps the ranges true. A line break without a mark before it is a short pause. */
function join(pieces: readonly Piece[]): SpokenForm {
  let spoken = '';
  let space: { start: number; end: number; line: boolean } | null = null;
  const map: SpokenRange[] = [];
  const add = (text: string, start: number, end: number) => {
    const from = spoken.length;
    spoken += text;
    const last = map.at(-1);
    const runsOn = last !== undefined && last.end === start && last.to - last.from === last.end - last.start && text.length === end - start;
    if (runsOn) map[map.length - 1] = { from: last.from, to: spoken.length, start: last.start, end };
    else map.push({ from, to: spoken.length, start, end });
  };
  const put = (text: string, start: number, end: number, isBracket = false) => {
    const closes = /^[,.;:!?…]/u.test(text);
    // A comma that stands for a bracket says nothing at the start or behind another mark.
    if (isBracket && (spoken === '' || /[,.;:!?…]$/u.test(spoken))) return;
    // A mark opens nothing, and the full stop of an abbreviation is the one of its sentence.
    if (spoken === '' && /^[,.;:!?]+$/u.test(text)) return;
    if (text === '.' && spoken.endsWith('.') && space === null) return;
    if (/^[,;:]$/.test(text) && /[,;:]$/.test(spoken)) return;
    if (space !== null && spoken !== '' && !closes) {
      const pause = space.line && /[\p{L}\p{N}]$/u.test(spoken);
      add(pause ? ', ' : ' ', space.start, space.end);
    }
    space = null;
    add(text, start, end);
  };
  const wait = (start: number, end: number, line: boolean) => {
    space = { start: space?.start ?? start, end, line: line || space?.line === true };
  };
  for (const piece of pieces) {
    if (piece.open) {
      let at = piece.start;
      for (const char of piece.text) {
        if (/\s/u.test(char)) wait(at, at + char.length, char === '\n');
        else put(char, at, at + char.length);
        at += char.length;
      }
      continue;
    }
    const words = piece.text.replace(/\s+/gu, ' ').trim();
    if (/^\s/u.test(piece.text)) wait(piece.start, piece.start, piece.text.startsWith('\n'));
    if (words !== '') put(words, piece.start, piece.end, words === ',');
    if (words !== '' && /\s$/u.test(piece.text)) wait(piece.end, piece.end, piece.text.endsWith('\n'));
  }
  return /[\p{L}\p{N}]/u.test(spoken) ? { spoken, map } : { spoken: '', map: [] };
}

/**
 * Where in the written text the voice is (VO-80, VO-81).
 *
 * @param at  characters of the spoken text that have been said.
 * @returns   UTF-16 length of the written text up to there: a replaced piece counts when it was said to its end.
 */
export function writtenLength(form: SpokenForm, at: number): number {
  let length = 0;
  for (const range of form.map) {
    if (at >= range.to) length = range.end;
    else {
      if (at > range.from && range.to - range.from === range.end - range.start) length = range.start + (at - range.from);
      break;
    }
  }
  return length;
}
