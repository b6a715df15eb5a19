import { isAbbreviation } from './abbreviations.ts';
import { phraseLimits as limits } from './limits.ts';
import { blockEnd, codeEnd, hiddenEnd, linkEnd } from './spans.ts';

/** A piece of an answer that is spoken in one go. `start` and `end` count UTF-16 units of the whole written answer. */
export type Phrase = { readonly index: number; readonly text: string; readonly start: number; readonly end: number };

export type Phraser = {
  /** Takes more of the answer; gives the phrases that are certain now, whatever follows. */
  push(text: string): Phrase[];
  /** The time limit is over (VO-60, VO-61): gives what can be said, cut between words; nothing if no whole word is there. */
  flush(): Phrase[];
  /** No more text comes. */
  end(): Phrase[];
};

const stops = '.!?;:…';
const cjkStops = '。！？；：';
const commas = ',，、';
const closers = '"\'”’»)]}*_`';
const isDigit = (char: string | undefined) => char !== undefined && /\d/.test(char);
const isSpace = (char: string | undefined) => char !== undefined && /\s/u.test(char);
const hasWord = (text: string) => /[\p{L}\p{N}]/u.test(text);

/**
 * Cuts a streamed answer into phrases for a speaking voice (VO-60, VO-61). However the text is split into pieces, the phrases are the
 * same: a cut is made only where no later character could change it. Links, inline code, numbers, addresses and listed abbreviations
 * are never cut; code blocks, tables, formula blocks and hidden blocks are one phrase each, whatever their length. Each letter and digit
 * is in exactly one phrase; a piece without any is no phrase,
 * unless it is such a block.
 *
 * @param options.language  two letters; chooses the abbreviations.
 */
export function createPhraser(options: { language: string }): Phraser {
  let rest = '';
  let offset = 0;
  let index = 0;

  function take(length: number): Phrase | null {
    const raw = rest.slice(0, length);
    const start = offset + (raw.length - raw.trimStart().length);
    const text = raw.trim();
    rest = rest.slice(length);
    offset += length;
    // A block is named by the voice, whatever is in it.
    if (!hasWord(text) && !/^(```|~~~|\$\$|\|)/.test(text)) return null;
    const phrase = { index, text, start, end: start + text.length };
    index += 1;
    return phrase;
  }

  function drain(ended: boolean): Phrase[] {
    const phrases: Phrase[] = [];
    while (rest !== '') {
      const { cut } = scan(rest, ended, options.language, lineStart);
      if (cut === null) break;
      lineStart = rest[cut - 1] === '\n';
      const phrase = take(cut);
      if (phrase !== null) phrases.push(phrase);
    }
    return phrases;
  }

  let lineStart = true;
  return {
    push(text) {
      rest += text;
      return drain(false);
    },
    flush() {
      const { cut, lastSpace } = scan(rest, false, options.language, lineStart);
      if (cut !== null || lastSpace === 0 || !hasWord(rest.slice(0, lastSpace))) return [];
      lineStart = false;
      const phrase = take(lastSpace);
      return phrase === null ? [] : [phrase];
    },
    end() {
      return drain(true);
    },
  };
}

/** The phrases of a text that is there whole. */
export function phrasesOf(text: string, language: string): Phrase[] {
  const phraser = createPhraser({ language });
  return [...phraser.push(text), ...phraser.end()];
}

type Scan = {
  /** Length of the next phrase with what belongs to it; `null`: not certain yet. */
  readonly cut: number | null;
  /** Behind the last space where one may cut if time is over. */
  readonly lastSpace: number;
};

/** Looks for the first place where a phrase ends. Everything it decides depends only on text that is there. */
function scan(text: string, ended: boolean, language: string, atLineStart: boolean): Scan {
  let lastSpace = 0;
  let words = 0;
  let tokens = 0;
  let wordStart = -1;
  let lineStart = atLineStart;
  let at = 0;
  const wait = (): Scan => ({ cut: null, lastSpace });

  while (at < text.length) {
    const char = text[at] ?? '';
    if (lineStart) {
      const end = blockEnd(text, at, ended);
      if (end === 'wait') return wait();
      // What stands before it on other lines has been cut off already: only spaces can be here.
      if (end !== null) return { cut: end, lastSpace };
    }
    lineStart = false;
    if (char === '<') {
      const end = hiddenEnd(text, at, ended);
      if (end === 'wait') return wait();
      if (end !== null) return { cut: at > 0 && hasWord(text.slice(0, at)) ? at : end, lastSpace };
    }
    if (char === '`' || char === '[') {
      const end = char === '`' ? codeEnd(text, at, ended) : linkEnd(text, at, ended);
      if (end === 'wait') return wait();
      if (end !== null) {
        if (wordStart === -1) wordStart = at;
        at = end;
        const over = overLimit(text, at, lastSpace);
        if (over !== null) return { cut: over, lastSpace };
        continue;
      }
    }
    if (char === '\n') return { cut: at + 1, lastSpace };
    if (isSpace(char)) {
      if (wordStart !== -1) {
        words += 1;
        tokens += Math.max(1, Math.ceil((at - wordStart) / 6));
        wordStart = -1;
        if (tokens > limits.tokens && lastSpace > 0) return { cut: lastSpace, lastSpace };
      }
      lastSpace = at + 1;
    } else if (wordStart === -1) wordStart = at;

    if (cjkStops.includes(char)) {
      const end = behindClosers(text, at + 1);
      if (end >= text.length && !ended) return wait();
      if (hasWord(text.slice(0, end))) return { cut: end, lastSpace };
    } else if (stops.includes(char)) {
      const end = behindClosers(text, at + 1);
      if (end >= text.length && !ended) return wait();
      if ((end >= text.length || isSpace(text[end])) && hasWord(text.slice(0, at)) && isStop(text, at, wordStart, language, atLineStart)) {
        return { cut: end, lastSpace };
      }
    } else if (commas.includes(char)) {
      // "May 3, 1985" is one thing.
      const isFigure = char === ',' && isDigit(text[at - 1]);
      if (at + (isFigure ? 2 : 1) >= text.length && !ended) return wait();
      const follows = char === ',' ? (at + 1 >= text.length || isSpace(text[at + 1])) && !(isFigure && isDigit(text[at + 2])) : true;
      if (follows && words + 1 >= limits.commaFromWords) return { cut: at + 1, lastSpace };
    }
    at += char.codePointAt(0) !== undefined && isHighSurrogate(char) ? 2 : 1;
    const over = overLimit(text, at, lastSpace);
    if (over !== null) return { cut: over, lastSpace };
  }
  return ended ? { cut: text.length, lastSpace } : wait();
}

const isHighSurrogate = (char: string) => char >= '\ud800' && char <= '\udbff';

/** At 200 characters: the last space, without one the length. A link that is longer stays whole. */
function overLimit(text: string, at: number, lastSpace: number): number | null {
  if (at <= limits.characters) return null;
  if (lastSpace > 0) return lastSpace;
  const isOneSpan = /^\s*[[`]/.test(text);
  if (isOneSpan) return at;
  const cut = limits.characters;
  return isHighSurrogate(text[cut - 1] ?? '') ? cut - 1 : cut;
}

function behindClosers(text: string, from: number): number {
  let at = from;
  while (at < text.length && (stops.includes(text[at] ?? '') || cjkStops.includes(text[at] ?? '') || closers.includes(text[at] ?? '')))
    at += 1;
  return at;
}

/** Whether the full stop (or its like) at `at` ends a phrase, and not an abbreviation, an initial, a list mark or an ordinal. */
function isStop(text: string, at: number, wordStart: number, language: string, atLineStart: boolean): boolean {
  if (text[at] !== '.') return true;
  const word = text.slice(wordStart === -1 ? at : wordStart, at).replace(/^["'“‘«([{*_]+/u, '');
  if (/(^|\.)\p{L}$/u.test(word)) return false;
  if (isAbbreviation(word, language)) return false;
  if (/^\d{1,3}$/.test(word)) {
    if (atLineStart && text.slice(0, wordStart).trim() === '') return false;
    // German writes "am 3. Mai".
    if (language === 'de' && word.length < 3) return false;
  }
  return true;
}
