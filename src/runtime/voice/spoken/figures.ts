import type { SpokenLocale } from './locales.ts';
import { type Piece, replace } from './pieces.ts';

const escape = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
const scaleLetters = [
  ['K', 'thousand'],
  ['k', 'thousand'],
  ['M', 'million'],
  ['m', 'million'],
  ['B', 'billion'],
  ['bn', 'billion'],
  ['T', 'trillion'],
] as const;
const decades = ['tens', 'twenties', 'thirties', 'forties', 'fifties', 'sixties', 'seventies', 'eighties', 'nineties'] as const;
const longestFirst = (keys: readonly string[]) =>
  [...keys]
    .sort((a, b) => b.length - a.length)
    .map(escape)
    .join('|');

/** Rule 7 of voice page 10.3: dates, times, money, units, percent, ranges, versions, phone numbers and numbers as words. */
export function sayFigures(pieces: readonly Piece[], locale: SpokenLocale): Piece[] {
  const { numbers, words } = locale;
  const isGerman = locale.decimal === ',';
  const group = isGerman ? '\\.' : ',';
  const number = `\\d{1,3}(?:${group}\\d{3})+(?:${escape(locale.decimal)}\\d+)?(?!\\d)|\\d+(?:${escape(locale.decimal)}\\d+)?`;
  const sign = '(?:(?<![\\w\\d)])[-−+])?';
  const month = [...locale.months, ...locale.months.map((name) => `${name.slice(0, 3)}t?\\.`)].join('|');
  const monthOf = (name: string) => locale.months.findIndex((each) => each.startsWith(name.slice(0, 3))) + 1;
  const money = longestFirst(Object.keys(locale.money));
  const unit = longestFirst(Object.keys(locale.units));
  const gap = '[ \\u00a0\\u202f]?';
  let out: Piece[] = [...pieces];
  const rule = (pattern: string | RegExp, become: Parameters<typeof replace>[2]) => {
    out = replace(out, typeof pattern === 'string' ? new RegExp(pattern, 'gu') : pattern, become);
  };

  const say = (text: string): string => {
    const negative = /^[-−]/.test(text) ? `${words.minus} ` : text.startsWith('+') ? `${words.plus} ` : '';
    const bare = text.replace(/^[-−+]/, '');
    const [whole = '', fraction] = splitNumber(bare, locale);
    return `${negative}${numbers.cardinal(whole)}${fraction === undefined ? '' : ` ${numbers.point} ${numbers.digits(fraction)}`}`;
  };
  const isOne = (text: string) => /^[-−+]?1$/.test(text);
  /** German: "ein Kilometer", not "eins". */
  const withUnit = (amount: string, pair: readonly [string, string]) =>
    isGerman && isOne(amount)
      ? `${amount.length > 1 ? `${words.minus} ` : ''}${/e$/.test(pair[0]) && !/[rm]$/.test(pair[0]) && pair[0] !== 'Terabyte' ? 'eine' : 'ein'} ${pair[0]}`
      : `${say(amount)} ${isOne(amount) ? pair[0] : pair[1]}`;
  const sayMoney = (amount: string, code: string, scale?: string): string => {
    const entry = locale.money[code];
    if (entry === undefined) return amount;
    if (scale !== undefined) return `${say(amount)} ${scale} ${entry.unit[1]}`;
    const [whole = '', fraction] = splitNumber(amount.replace(/^[-−+]/, ''), locale);
    const head = /^[-−]/.test(amount) ? `${words.minus} ` : '';
    if (fraction?.length !== 2) return `${withUnit(amount, entry.unit)}`;
    const units = head + withUnit(whole, entry.unit);
    if (Number(fraction) === 0) return units;
    const cents = numbers.cardinal(String(Number(fraction)));
    if (isGerman) return `${units} ${cents}`;
    if (entry.cent === null) return `${say(amount)} ${entry.unit[1]}`;
    const small = `${cents} ${Number(fraction) === 1 ? entry.cent[0] : entry.cent[1]}`;
    return Number(whole) === 0 ? head + small : `${units} ${words.and} ${small}`;
  };
  const sayDate = (day: number, monthNumber: number, year: string | undefined, before: string): string | null => {
    const name = locale.months[monthNumber - 1];
    if (name === undefined || day < 1 || day > 31) return null;
    const spokenYear = year === undefined || year === '' ? '' : numbers.year(Number(year.length === 2 ? `20${year}` : year));
    if (!isGerman) return `${name} ${numbers.ordinal(day)}${spokenYear === '' ? '' : `, ${spokenYear}`}`;
    const ending = /\b(am|vom|zum|dem|den|im|ab)\s*$/i.test(before) ? 'ten' : /\b(der|die|das)\s*$/i.test(before) ? 'te' : 'ter';
    return `${numbers.ordinal(day, ending)} ${name}${spokenYear === '' ? '' : ` ${spokenYear}`}`;
  };
  const before = (match: RegExpExecArray) => match.input.slice(Math.max(0, match.index - 8), match.index);

  // Phone numbers: with a plus, or in groups joined by hyphens.
  rule(
    /\+\d{1,3}[\d ()/-]{6,18}\d(?!\d)|\(\d{3}\) ?\d{3}-\d{4}(?!\d)|(?<![\d.,])0\d{1,5}[ /-]\d{4,9}(?!\d)|(?<![\d-])\d{3}-(?:\d{3}-)?\d{4}(?![\d-])/g,
    (match) =>
      match[0]
        .replace(/^\+/, '')
        .split(/[ ()/-]+/)
        .filter((part) => part !== '')
        .map((part) => numbers.digits(part))
        .join(', ')
        .replace(/^/, match[0].startsWith('+') ? `${words.plus} ` : ''),
  );
  // Dates.
  rule(/(?<![\d-])(\d{4})-(\d{2})-(\d{2})(?![\d-])/g, (match) => sayDate(Number(match[3]), Number(match[2]), match[1], before(match)));
  if (isGerman) {
    rule(/(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})?(?![\d])/g, (match) =>
      sayDate(Number(match[1]), Number(match[2]), match[3], before(match)),
    );
    rule(`(?<!\\d)(\\d{1,2})\\. (${month})(?: (\\d{4}))?(?!\\p{L})`, (match) =>
      sayDate(Number(match[1]), monthOf(match[2] ?? ''), match[3], before(match)),
    );
  } else {
    rule(/(?<![\d/])(\d{1,2})\/(\d{1,2})\/(\d{4}|\d{2})(?![\d/])/g, (match) => sayDate(Number(match[2]), Number(match[1]), match[3], ''));
    rule(`\\b(${month}) (\\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4}))?(?![\\d:])`, (match) =>
      sayDate(Number(match[2]), monthOf(match[1] ?? ''), match[3], ''),
    );
    rule(`(?<!\\d)(\\d{1,2})(?:st|nd|rd|th)? (${month})(?: (\\d{4}))?(?!\\p{L})`, (match) =>
      sayDate(Number(match[1]), monthOf(match[2] ?? ''), match[3], ''),
    );
  }
  // Times.
  rule(/(?<![\d:.,])([01]?\d|2[0-4]):([0-5]\d)(?::[0-5]\d)?(?: ?([ap])\.?m\b\.?| ?(Uhr)\b)?(?!:?\d)/gi, (match) =>
    isGerman ? sayUhr(Number(match[1]), Number(match[2])) : sayClock(Number(match[1]), Number(match[2]), match[3]),
  );
  if (!isGerman)
    rule(
      /(?<![\d:.,])(1[0-2]|[1-9]) ?([ap])\.?m\b\.?(?!\w)/gi,
      (match) => `${numbers.cardinal(match[1] ?? '')} ${(match[2] ?? '').toLowerCase()}.m.`,
    );
  // Versions and addresses of machines.
  rule(/(?:\b[Vv]ersion )?(?<![\w.])[vV](\d+(?:\.\d+)*)(?![\w])/g, (match) => `${words.version} ${dotted(match[1] ?? '')}`);
  rule(/(?<![\w.,])\d+(?:\.\d+){2,}(?![\w.]*\d)/g, (match) => (isGerman && /^\d{1,3}(\.\d{3})+$/.test(match[0]) ? null : dotted(match[0])));
  function dotted(text: string): string {
    return text
      .split('.')
      .map((part) => numbers.cardinal(part))
      .join(isGerman ? ' Punkt ' : ` ${numbers.point} `);
  }
  // Feet and inches.
  if (!isGerman)
    rule(
      /(?<![\w.])(\d{1,2})['′](\d{1,2})["″]/g,
      (match) => `${numbers.cardinal(match[1] ?? '')} foot ${numbers.cardinal(match[2] ?? '')}`,
    );
  // From one amount to another.
  rule(
    `(${money})${gap}(${number})${gap}[–—-]${gap}(?:\\1)?${gap}(${number})(?![\\d\\-–])`,
    (match) => `${say(match[2] ?? '')} ${words.to} ${sayMoney(match[3] ?? '', match[1] ?? '')}`,
  );
  rule(
    `(?<![\\w.,\\-–])(${number})${gap}[–—-]${gap}(${number})${gap}(${money})(?!\\w)`,
    (match) => `${say(match[1] ?? '')} ${words.to} ${sayMoney(match[2] ?? '', match[3] ?? '')}`,
  );
  // "$5M", "$2.5bn".
  if (!isGerman)
    rule(`(${money})${gap}(${number})${gap}(${scaleLetters.map(([letter]) => letter).join('|')})(?!\\w)`, (match) =>
      sayMoney(match[2] ?? '', match[1] ?? '', scaleLetters.find(([letter]) => letter === match[3])?.[1]),
    );
  // Decades: "the 80s", "1990s", "90er Jahre".
  if (isGerman) rule(/(?<![\w.,])(\d{2}|1[1-9]\d0|20\d0)er(?= )/g, (match) => `${numbers.year(Number(match[1]))}er`);
  else
    rule(/(?<![\w.,])(?:(1[1-9]|20)([1-9])|(?:['’]|(?<=\b[Tt]he ))([2-9]))0s\b/g, (match) => {
      const decade = decades[Number(match[2] ?? match[3]) - 1] ?? '';
      return match[1] === undefined ? decade : `${numbers.cardinal(match[1])} ${decade}`;
    });
  // "8B", "3.5M".
  if (!isGerman)
    rule(
      `(?<![\\w.,$€£])(${number})(M|B|bn)(?!\\w)`,
      (match) => `${say(match[1] ?? '')} ${scaleLetters.find(([letter]) => letter === match[2])?.[1] ?? ''}`,
    );
  // Money, before or behind; a scale word goes between.
  rule(`(${sign})(${money})${gap}(${number})(?: (million|billion|thousand|trillion|Millionen|Milliarden)\\b)?`, (match) =>
    sayMoney(`${match[1] ?? ''}${match[3] ?? ''}`, match[2] ?? '', match[4]),
  );
  rule(`(?<![\\w.,])(${sign}(?:${number}))${gap}(?:(million|billion|Millionen|Milliarden) )?(${money})(?!\\w)`, (match) =>
    sayMoney(match[1] ?? '', match[3] ?? '', match[2]),
  );
  // Ranges, with or without a unit.
  rule(`(?<![\\w.,\\-–])(${number})${gap}[–—-]${gap}(${number})(?:${gap}(%|${unit})(?![\\p{L}\\d]))?(?![\\d\\-–])`, (match) => {
    const isGapped = /\d [-] ?\d/.test(match[0]);
    if (isGapped) return null;
    const tail = match[3] === undefined ? '' : match[3] === '%' ? ` ${words.percent}` : ` ${locale.units[match[3]]?.[1] ?? match[3]}`;
    return `${say(match[1] ?? '')} ${words.to} ${say(match[2] ?? '')}${tail}`;
  });
  rule(`(?<![\\w.,])(${sign}(?:${number}))${gap}%`, (match) => `${say(match[1] ?? '')} ${words.percent}`);
  rule(`(?<![\\w.,])(${sign}(?:${number}))${gap}(${unit})(?![\\p{L}\\d/])`, (match) => {
    const pair = locale.units[match[2] ?? ''];
    return pair === undefined ? null : withUnit(match[1] ?? '', pair);
  });
  // Years, where a word before says so.
  rule(
    /(?<=\b(?:in|since|of|until|by|from|before|after|year|im Jahr|Jahr|seit|von|bis|vor|nach|Jahre) )(1[1-9]\d\d|20\d\d)(?![\d.,]\d|\d)/gi,
    (match) => numbers.year(Number(match[1])),
  );
  // "16:9".
  rule(
    /(?<![\d:.,])(\d{1,3}):(\d{1,3})(?![\d:])/g,
    (match) => `${numbers.cardinal(match[1] ?? '')} ${isGerman ? 'zu' : words.to} ${numbers.cardinal(match[2] ?? '')}`,
  );
  // Small signs around numbers.
  rule(/(?<=\d) ?[½¼¾⅓⅔]/g, (match) => ` ${words.and} ${fractionOf(match[0].trim())}`);
  rule(/[½¼¾⅓⅔]|(?<![\d/])(?:1\/2|1\/4|3\/4|1\/3|2\/3)(?![\d/])/g, (match) => fractionOf(match[0]));
  rule(/(?<=[\d)\w]) ?× ?(?=[\d(\w])|(?<=\d)\*(?=\d)/g, () => ` ${words.times} `);
  rule(/(?<=\d) ?\+ ?(?=\d)/g, () => ` ${words.plus} `);
  rule(/(?<=[\w)]) = (?=[\w(])/g, () => ` ${words.equals} `);
  rule(/#(?=\d)/g, () => `${words.number} `);
  if (!isGerman) rule(/(?<![\w.,])(\d{1,4})(?:st|nd|rd|th)\b/g, (match) => numbers.ordinal(Number(match[1])));
  // "1 Hund": before a noun the one is no numeral.
  if (isGerman) rule(/(?<![\p{L}\d.,-])1(?= \p{L})/gu, () => 'ein');
  rule(`(?<![\\p{L}\\d.,])(${sign}(?:${number}))(?![\\p{L}\\d])`, (match) => say(match[1] ?? ''));
  // A sign whose number was said already: "2 Mrd. €".
  rule(/[€£]/g, (match) => ` ${locale.money[match[0]]?.unit[1] ?? ''}`);
  // Behind what they raise.
  rule(/[⁰¹²³⁴⁵⁶⁷⁸⁹]+/g, (match) => {
    if (match[0] === '²') return ` ${words.squared}`;
    if (match[0] === '³') return ` ${words.cubed}`;
    return ` ${words.power} ${numbers.cardinal(match[0].normalize('NFKC'))}`;
  });
  return out;

  function sayClock(hour: number, minute: number, half: string | undefined): string {
    const suffix = half === undefined ? (hour % 24 >= 12 ? 'p.m.' : 'a.m.') : `${half.toLowerCase()}.m.`;
    const shown = numbers.cardinal(String(hour % 12 === 0 ? 12 : hour % 12));
    if (minute === 0) return `${shown} ${suffix}`;
    return `${shown} ${minute < 10 ? 'oh ' : ''}${numbers.cardinal(String(minute))} ${suffix}`;
  }

  function fractionOf(sign: string): string {
    if (sign === '½' || sign === '1/2') return words.half;
    if (sign === '⅓' || sign === '1/3') return words.third;
    if (sign === '⅔' || sign === '2/3') return words.twoThirds;
    return sign === '¼' || sign === '1/4' ? words.quarter : words.threeQuarters;
  }

  function sayUhr(hour: number, minute: number): string {
    const shown = hour === 1 ? 'ein' : numbers.cardinal(String(hour));
    return `${shown} Uhr${minute === 0 ? '' : ` ${numbers.cardinal(String(minute))}`}`;
  }
}

function splitNumber(text: string, locale: SpokenLocale): string[] {
  const group = locale.decimal === '.' ? /,/g : /\./g;
  return text.replace(group, '').split(locale.decimal);
}
