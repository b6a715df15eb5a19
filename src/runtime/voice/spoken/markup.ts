import type { SpokenLocale } from './locales.ts';
import { type Piece, replace } from './pieces.ts';

const symbols: Readonly<Record<string, string>> = {
  '/': ' slash ',
  '.': ' dot ',
  '=': ' equals ',
  '+': ' plus ',
  '*': ' star ',
  '#': ' hash ',
  '@': ' at ',
  '&': ' and ',
  '|': ' pipe ',
  '<': ' less than ',
  '>': ' greater than ',
  '~': ' tilde ',
  '\\': ' backslash ',
};

/** Rules 1 to 6 and 9 of voice page 10.3: nothing of the markup is read, and blocks that only make sense to the eye are named. */
export function dropMarkup(pieces: readonly Piece[], locale: SpokenLocale | undefined, full: boolean): Piece[] {
  const words = locale?.words;
  const dot = ` ${words?.dot ?? '.'} `;
  let out: Piece[] = [...pieces];
  const rule = (pattern: RegExp, become: Parameters<typeof replace>[2]) => {
    out = replace(out, pattern, become);
  };
  // 1
  rule(/<(think|thinking|analysis|reasoning|tool_call|tool_response)>[\s\S]*?(?:<\/\1>|$)/gi, () => '');
  // 2
  rule(/(?<=^|\n) {0,3}(```|~~~)[\s\S]*?(?:\n {0,3}\1[^\n]*(?=\n|$)|$(?![\s\S]))/g, () => ` ${words?.codeOnScreen ?? ''} `);
  rule(/(?<!`)(`{1,2})(?!`)([^\n]{1,200}?)(?<!`)\1(?!`)/g, (match) => ` ${sayCode(match[2] ?? '')} `);
  // 3
  if (full) {
    rule(/(?<=^|\n)\|[\s:|-]+(?=\n|$)/g, () => '');
    rule(/(?<=^|\n)\|[ \t]*|[ \t]*\|[ \t]*(?=\n|$)/g, () => '');
    rule(/(?<=[^\n|]) +\| +(?=[^\n|])/g, () => ', ');
  }
  rule(/(?<=^|\n)(?:\|[^\n]*(?:\n|$)){2,}/g, (match) => {
    const rows = match[0].trim().split('\n');
    const rule = rows.findIndex((row) => /^\|[\s:|-]+$/.test(row));
    return ` ${words?.tableOnScreen(rule === -1 ? rows.length : rows.length - rule - 1) ?? ''}\n`;
  });
  rule(/!\[([^\]\n]{0,500})\]\([^)\n]{0,2000}\)/g, (match) => [[2, 2 + (match[1]?.length ?? 0)]]);
  rule(/\\\(([^\n]{1,80}?)\\\)/g, (match) => sayFormula(match[1] ?? '', locale) ?? [[2, 2 + (match[1]?.length ?? 0)]]);
  rule(/\$\$[\s\S]*?\$\$|\\\[[\s\S]*?\\\]/g, () => ` ${words?.formulaOnScreen ?? ''} `);
  rule(/\$(?=\S)([^$\n]{1,80}?)(?<=\S)\$(?!\d)/g, (match) => sayFormula(match[1] ?? '', locale));
  // 4
  rule(/\[([^\]\n]{1,500})\]\([^)\n]{0,2000}\)/g, (match) => [[1, 1 + (match[1]?.length ?? 0)]]);
  rule(/\[([^\]\n]{1,500})\]\[[^\]\n]{0,100}\]/g, (match) => [[1, 1 + (match[1]?.length ?? 0)]]);
  rule(/<?\b(?:https?:\/\/|www\.)[^\s<>]*[^\s<>.,!?;:)\]"'*_]>?/gi, (match) => sayHost(match[0], dot));
  rule(/(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g, (match) =>
    match[0].replace('@', ` ${words?.at ?? '@'} `).replace(/\./g, dot),
  );
  rule(/(?<![\w/])(?:~|\.{1,2}|[A-Za-z]:)?(?:[\\/][\w.@-]+){2,}[\\/]?/g, (match) => {
    const last =
      match[0]
        .split(/[\\/]/)
        .filter((part) => part !== '')
        .at(-1) ?? '';
    return last.replace(/\./g, dot).replace(/[_-]/g, ' ').trim();
  });
  // 5
  rule(/(?<=^|\n)[ \t]*(?:[-*_] ?){3,}(?=\n|$)/g, () => '');
  rule(/(?<=^|\n)[ \t]*(?:>[ \t]?)+/g, () => '');
  rule(/(?<=^|\n)[ \t]*#{1,6}[ \t]+/g, () => '');
  rule(/(?<=^|\n)[ \t]*[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?/g, () => '');
  rule(/(?<=^|\n)[ \t]*(\d{1,3})[.)][ \t]+(?=\S)/g, (match) => {
    const ordinal = locale?.listOrdinals[Number(match[1]) - 1];
    return ordinal === undefined ? '' : `${ordinal}: `;
  });
  rule(/\*{2,3}|__(?=\S)|(?<=\S)__|~~|(?<![\w*])\*(?=\S)|(?<=\S)\*(?!\w)|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)/g, () => '');
  // snake_case in a sentence.
  rule(/(?<=[\p{L}\d])_(?=[\p{L}\d])/gu, () => ' ');
  rule(/\[\^?(\d+)\]/g, () => '');
  // 9, before the signs of 6: tags, and characters that nobody sees.
  rule(/<\/?[a-zA-Z][^<>\n]{0,200}>|<!--[\s\S]*?-->/g, (match) => (/^<\/?(br|p|div|li|tr|h\d)\b/i.test(match[0]) ? '\n' : ''));
  rule(
    /&(amp|lt|gt|nbsp|quot);/g,
    (match) => ({ amp: ` ${words?.and ?? '&'} `, lt: '', gt: '', nbsp: ' ', quot: '' })[match[1] ?? ''] ?? '',
  );
  // Controls, zero-width and direction marks.
  rule(/[\p{Cc}\p{Cf}]/gu, (match) => (match[0] === '\n' || match[0] === '\t' ? null : ''));
  // 6
  rule(/[\p{Extended_Pictographic}\p{Regional_Indicator}\u{1f3fb}-\u{1f3ff}\ufe0f\u20e3★☆●○■□◆◇▪▫►▶◀➜➤✓✔✗✘]+/gu, (match) =>
    /^[©®™]+$/u.test(match[0]) ? null : '',
  );
  rule(/([!?.,;:])\1+/g, (match) => (match[1] === '.' ? '…' : (match[1] ?? '')));
  return out;
}

function sayCode(code: string): string {
  return code
    .replace(/\(\)/g, '')
    .replace(/[/.=+*#@&|<>~\\]/g, (sign) => symbols[sign] ?? ' ')
    .replace(/[_\-(){}[\]"'`;:,!?$%^]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Simple formulas are read; others are on the screen. `null`: it is no formula, as in "$5 or 6$". */
function sayFormula(formula: string, locale: SpokenLocale | undefined): string | null {
  if (!/[a-zA-Z=^]/.test(formula) || /^\d[\d.,]*\s+[a-z]{2,}/.test(formula)) return null;
  if (locale === undefined) return '';
  const { words } = locale;
  if (/[\\{}_]/.test(formula) || formula.length > 40) return words.formulaOnScreen;
  return formula
    .replace(/\^2/g, ` ${words.squared} `)
    .replace(/\^3/g, ` ${words.cubed} `)
    .replace(/\+/g, ` ${words.plus} `)
    .replace(/[-−]/g, ` ${words.minus} `)
    .replace(/[*×·]/g, ` ${words.times} `)
    .replace(/=/g, ` ${words.equals} `)
    .replace(/\d+/g, (digits) => locale.numbers.cardinal(digits))
    .replace(/\s+/g, ' ')
    .trim();
}

function sayHost(address: string, dot: string): string {
  const host = address
    .replace(/^<|>$/g, '')
    .replace(/^https?:\/\//i, '')
    .replace(/^www\./i, '')
    .split(/[/?#:]/)[0];
  return (host ?? '').replace(/\./g, dot);
}
