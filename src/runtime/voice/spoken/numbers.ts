/** Number words by language. All take whole numbers ≥ 0; what is too large to be said as a number is said digit by digit. */
export type NumberWords = {
  cardinal(digits: string): string;
  /** @param ending  German only: -te, -ten, -ter. */
  ordinal(value: number, ending?: 'te' | 'ten' | 'ter'): string;
  year(value: number): string;
  digits(text: string): string;
  point: string;
};

const enOnes =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const enTens = '- - twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const enScales = ['', 'thousand', 'million', 'billion', 'trillion'];
const enOrdinals: Readonly<Record<string, string>> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
};
const deOnes =
  'null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn'.split(
    ' ',
  );
const deTens = '- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig'.split(' ');

/** Above this a number is a name: it is spelt. */
const sayable = 15;

export const english: NumberWords = {
  point: 'point',
  cardinal(digits) {
    if (digits.replace(/^0+/, '').length > sayable) return this.digits(digits);
    return enCardinal(Number(digits));
  },
  ordinal(value) {
    const words = enCardinal(value);
    const last = /[a-z]+$/.exec(words)?.[0] ?? '';
    const ordinal = enOrdinals[last] ?? (last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`);
    return words.slice(0, words.length - last.length) + ordinal;
  },
  year(value) {
    const [high, low] = [Math.floor(value / 100), value % 100];
    if (value < 1_100 || value > 2_099 || (high === 20 && low < 10)) return enCardinal(value);
    if (low === 0) return `${enCardinal(high)} hundred`;
    return `${enCardinal(high)} ${low < 10 ? 'oh ' : ''}${enCardinal(low)}`;
  },
  digits: (text) => [...text].map((digit) => enOnes[Number(digit)]).join(' '),
};

export const german: NumberWords = {
  point: 'Komma',
  cardinal(digits) {
    if (digits.replace(/^0+/, '').length > sayable) return this.digits(digits);
    return deCardinal(Number(digits));
  },
  ordinal(value, ending = 'te') {
    const rest = value % 100;
    const irregular = ({ 1: 'ers', 3: 'drit', 7: 'sieb', 8: 'ach' } as Readonly<Record<number, string>>)[rest];
    const head = value - rest === 0 ? '' : deCardinal(value - rest);
    const stem = irregular ?? deCardinal(rest) + (rest < 20 && rest > 0 ? 't' : 'st');
    // "drit" + "te": the stem's own t is the ending's.
    return head + stem + (irregular === undefined || irregular === 'ers' ? (irregular === 'ers' ? ending : ending.slice(1)) : ending);
  },
  year(value) {
    if (value < 1_100 || value > 1_999) return deCardinal(value);
    const low = value % 100;
    return `${deCardinal(Math.floor(value / 100))}hundert${low === 0 ? '' : deCardinal(low)}`;
  },
  digits: (text) => [...text].map((digit) => deOnes[Number(digit)]).join(' '),
};

function enCardinal(value: number): string {
  if (value < 20) return enOnes[value] ?? '';
  if (value < 100) return `${enTens[Math.floor(value / 10)] ?? ''}${value % 10 === 0 ? '' : `-${enOnes[value % 10] ?? ''}`}`;
  if (value < 1_000) return `${enOnes[Math.floor(value / 100)] ?? ''} hundred${value % 100 === 0 ? '' : ` ${enCardinal(value % 100)}`}`;
  const scale = Math.floor((String(value).length - 1) / 3);
  const unit = 1_000 ** scale;
  const rest = value % unit;
  return `${enCardinal(Math.floor(value / unit))} ${enScales[scale] ?? ''}${rest === 0 ? '' : ` ${enCardinal(rest)}`}`;
}

function deCardinal(value: number): string {
  if (value < 20) return deOnes[value] ?? '';
  if (value < 100) {
    const one = value % 10;
    return `${one === 0 ? '' : `${one === 1 ? 'ein' : (deOnes[one] ?? '')}und`}${deTens[Math.floor(value / 10)] ?? ''}`;
  }
  if (value < 1_000) return `${deHead(Math.floor(value / 100))}hundert${value % 100 === 0 ? '' : deCardinal(value % 100)}`;
  if (value < 1_000_000) return `${deHead(Math.floor(value / 1_000))}tausend${value % 1_000 === 0 ? '' : deCardinal(value % 1_000)}`;
  for (const [unit, one, many] of [
    [1e12, 'Billion', 'Billionen'],
    [1e9, 'Milliarde', 'Milliarden'],
    [1e6, 'Million', 'Millionen'],
  ] as const) {
    if (value < unit) continue;
    const count = Math.floor(value / unit);
    const rest = value % unit;
    return `${count === 1 ? 'eine' : deCardinal(count)} ${count === 1 ? one : many}${rest === 0 ? '' : ` ${deCardinal(rest)}`}`;
  }
  return '';
}

/** "einhundert", "einundzwanzigtausend", "einhunderteintausend": no "eins" before the unit. */
function deHead(value: number): string {
  return deCardinal(value).replace(/eins$/, 'ein');
}
