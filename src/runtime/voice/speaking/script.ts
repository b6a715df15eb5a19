import { createPhraser, type Phrase } from '../../speech/phrases/phraser.ts';
import { voiceLimits as limits } from '../limits.ts';
import { spokenLocales } from '../spoken/locales.ts';
import { type SpokenForm, spokenForm } from '../spoken/spoken.ts';

/** One thing to be said. `start`, `end`: UTF-16 units of the written answer; the map of `form` counts from `start`. */
export type Line = {
  readonly start: number;
  readonly end: number;
  readonly form: SpokenForm;
};

export type Script = {
  push(text: string): Line[];
  /** The time limit is over (VO-60): what can be said by now. */
  flush(): Line[];
  end(): Line[];
  /** Some text is in no phrase yet. */
  hasRest(): boolean;
  /** Of the written answer, in UTF-16 units. */
  readonly written: string;
};

const listMark = /^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S/;
const indented = /^(?: {2,}|\t)\s*\S/;

/**
 * A written answer that grows, as lines for a voice: phrases of the phraser in their spoken form, without those that say nothing. A list
 * is read up to `summaryCharacters`; the rest of it is one line that names it. But for `flush`, the pieces in which the text
 * comes change nothing.
 *
 * @param language  two letters.
 */
export function createScript(language: string): Script {
  const phraser = createPhraser({ language });
  const restOnScreen = spokenLocales[language]?.words.restOnScreen;
  let written = '';
  let taken = 0;
  let list: { spoken: number; readonly rest: Phrase[]; isNamed: boolean } | null = null;

  function lineOf(phrase: Phrase): Line[] {
    const form = spokenForm(phrase.text, { language });
    return form.spoken === '' ? [] : [{ start: phrase.start, end: phrase.end, form }];
  }

  /** In a line of a list, or in what is indented below one. */
  function isListed(phrase: Phrase): boolean {
    const from = written.lastIndexOf('\n', phrase.start - 1) + 1;
    const line = written.slice(from, phrase.end);
    return listMark.test(line) || (list !== null && indented.test(line));
  }

  function nameRest(): Line[] {
    const first = list?.rest[0];
    const last = list?.rest.at(-1);
    if (list === null || list.isNamed || first === undefined || last === undefined || restOnScreen === undefined) return [];
    list.isNamed = true;
    const map = [{ from: 0, to: restOnScreen.length, start: 0, end: last.end - first.start }];
    return [{ start: first.start, end: last.end, form: { spoken: restOnScreen, map } }];
  }

  function endList(): Line[] {
    const lines = nameRest();
    list = null;
    return lines;
  }

  function take(phrase: Phrase): Line[] {
    taken = phrase.end;
    if (!isListed(phrase)) return [...endList(), ...lineOf(phrase)];
    list ??= { spoken: 0, rest: [], isNamed: false };
    const lines = lineOf(phrase);
    list.spoken += lines[0]?.form.spoken.length ?? 0;
    if (restOnScreen === undefined || (list.rest.length === 0 && list.spoken <= limits.summaryCharacters)) return lines;
    if (lines.length > 0) list.rest.push(phrase);
    return [];
  }

  return {
    push(text) {
      written += text;
      return phraser.push(text).flatMap(take);
    },
    flush() {
      const lines = phraser.flush().flatMap(take);
      return lines.length > 0 ? lines : nameRest();
    },
    end: () => [...phraser.end().flatMap(take), ...endList()],
    hasRest: () => /\S/.test(written.slice(taken)) || (list !== null && !list.isNamed && list.rest.length > 0),
    get written() {
      return written;
    },
  };
}
