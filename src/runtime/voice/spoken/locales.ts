import { english, german, type NumberWords } from './numbers.ts';

type Pair = readonly [one: string, many: string];

/** What a language says for what is written. Data: a further language is one more entry. */
export type SpokenLocale = {
  readonly numbers: NumberWords;
  /** Sign between whole and fraction, and between groups of three. */
  readonly decimal: '.' | ',';
  readonly months: readonly string[];
  readonly units: Readonly<Record<string, Pair>>;
  readonly money: Readonly<Record<string, { readonly unit: Pair; readonly cent: Pair | null }>>;
  readonly abbreviations: readonly (readonly [RegExp, string])[];
  /** Signs of arithmetic and their like. */
  readonly signs: readonly (readonly [RegExp, string])[];
  readonly words: {
    readonly codeOnScreen: string;
    readonly formulaOnScreen: string;
    readonly tableOnScreen: (rows: number) => string;
    readonly listOnScreen: (items: number) => string;
    readonly restOnScreen: string;
    readonly dot: string;
    readonly at: string;
    readonly to: string;
    readonly minus: string;
    readonly plus: string;
    readonly times: string;
    readonly equals: string;
    readonly about: string;
    readonly and: string;
    readonly number: string;
    readonly percent: string;
    readonly version: string;
    readonly squared: string;
    readonly cubed: string;
    /** Before the number of a higher power. */
    readonly power: string;
    readonly half: string;
    readonly third: string;
    readonly twoThirds: string;
    readonly quarter: string;
    readonly threeQuarters: string;
  };
  /** Said as words although written in capitals. */
  readonly acronyms: Readonly<Record<string, string>>;
  /** Marks of a numbered list, 1 to 10. */
  readonly listOrdinals: readonly string[];
};

const sayAsWord = {
  COVID: 'Covid',
  UNICEF: 'Unicef',
  FIFA: 'Fifa',
  NASA: 'NASA',
  NATO: 'NATO',
  UNESCO: 'UNESCO',
  PIN: 'PIN',
  RAM: 'RAM',
  ROM: 'ROM',
  SIM: 'SIM',
  LAN: 'LAN',
  GIF: 'GIF',
};

const between = { before: '(?<=[\\p{L}\\d)%]) ?', after: ' ?(?=[\\p{L}\\d(])' } as const;
const infix = (sign: string, word: string): readonly [RegExp, string] => [
  new RegExp(`${between.before}${sign}${between.after}`, 'gu'),
  ` ${word} `,
];
/** With spaces around it: alone it means something else. */
const spaced = (sign: string, word: string): readonly [RegExp, string] => [
  new RegExp(`(?<=[\\p{L}\\d)%]) ${sign} (?=[\\p{L}\\d(])`, 'gu'),
  ` ${word} `,
];

const en: SpokenLocale = {
  numbers: english,
  decimal: '.',
  months: 'January February March April May June July August September October November December'.split(' '),
  units: {
    'MB/s': ['megabyte per second', 'megabytes per second'],
    'GB/s': ['gigabyte per second', 'gigabytes per second'],
    'KB/s': ['kilobyte per second', 'kilobytes per second'],
    'km/h': ['kilometer per hour', 'kilometers per hour'],
    mph: ['mile per hour', 'miles per hour'],
    km: ['kilometer', 'kilometers'],
    cm: ['centimeter', 'centimeters'],
    mm: ['millimeter', 'millimeters'],
    m: ['meter', 'meters'],
    mi: ['mile', 'miles'],
    ft: ['foot', 'feet'],
    kg: ['kilogram', 'kilograms'],
    mg: ['milligram', 'milligrams'],
    g: ['gram', 'grams'],
    lb: ['pound', 'pounds'],
    oz: ['ounce', 'ounces'],
    ml: ['milliliter', 'milliliters'],
    l: ['liter', 'liters'],
    L: ['liter', 'liters'],
    '°C': ['degree Celsius', 'degrees Celsius'],
    '°F': ['degree Fahrenheit', 'degrees Fahrenheit'],
    '°': ['degree', 'degrees'],
    TB: ['terabyte', 'terabytes'],
    GB: ['gigabyte', 'gigabytes'],
    MB: ['megabyte', 'megabytes'],
    KB: ['kilobyte', 'kilobytes'],
    kB: ['kilobyte', 'kilobytes'],
    ms: ['millisecond', 'milliseconds'],
    min: ['minute', 'minutes'],
    s: ['second', 'seconds'],
    h: ['hour', 'hours'],
    GHz: ['gigahertz', 'gigahertz'],
    MHz: ['megahertz', 'megahertz'],
    kHz: ['kilohertz', 'kilohertz'],
    Hz: ['hertz', 'hertz'],
    kWh: ['kilowatt hour', 'kilowatt hours'],
    kW: ['kilowatt', 'kilowatts'],
    W: ['watt', 'watts'],
    V: ['volt', 'volts'],
    px: ['pixel', 'pixels'],
    dB: ['decibel', 'decibels'],
    'm²': ['square meter', 'square meters'],
    'km²': ['square kilometer', 'square kilometers'],
    'cm²': ['square centimeter', 'square centimeters'],
    'm³': ['cubic meter', 'cubic meters'],
    'm/s': ['meter per second', 'meters per second'],
    'Mbit/s': ['megabit per second', 'megabits per second'],
    Mbps: ['megabit per second', 'megabits per second'],
    kcal: ['kilocalorie', 'kilocalories'],
    yd: ['yard', 'yards'],
    t: ['ton', 'tons'],
  },
  money: {
    $: { unit: ['dollar', 'dollars'], cent: ['cent', 'cents'] },
    US$: { unit: ['US dollar', 'US dollars'], cent: ['cent', 'cents'] },
    USD: { unit: ['US dollar', 'US dollars'], cent: ['cent', 'cents'] },
    '€': { unit: ['euro', 'euros'], cent: ['cent', 'cents'] },
    EUR: { unit: ['euro', 'euros'], cent: ['cent', 'cents'] },
    '£': { unit: ['pound', 'pounds'], cent: ['penny', 'pence'] },
    GBP: { unit: ['pound', 'pounds'], cent: ['penny', 'pence'] },
    '¥': { unit: ['yen', 'yen'], cent: null },
    CHF: { unit: ['Swiss franc', 'Swiss francs'], cent: ['rappen', 'rappen'] },
  },
  abbreviations: [
    [/\be\. ?g\.,?/gi, 'for example,'],
    [/\bi\. ?e\.,?/gi, 'that is,'],
    [/\betc\./gi, 'et cetera'],
    [/\bvs\./gi, 'versus'],
    [/\bapprox\./gi, 'approximately'],
    [/\bDr\. (?=\p{Lu})/gu, 'Doctor '],
    [/\bMr\. /g, 'Mister '],
    [/\bMrs\. /g, 'Missus '],
    [/\bProf\. /g, 'Professor '],
    [/\bSt\. (?=\p{Lu})/gu, 'Saint '],
    [/\bNo\. (?=\d)/g, 'number '],
    [/\bp\. ?(?=\d)/g, 'page '],
    [/\bpp\. ?(?=\d)/g, 'pages '],
    [/\bFig\. ?(?=\d)/gi, 'figure '],
  ],
  signs: [
    infix('→', 'to'),
    spaced('[-=]>', 'to'),
    infix('≤', 'less than or equal to'),
    [/≤ ?/g, 'at most '],
    infix('≥', 'greater than or equal to'),
    [/≥ ?/g, 'at least '],
    infix('≠', 'is not equal to'),
    spaced('<', 'less than'),
    spaced('>', 'greater than'),
    infix('÷', 'divided by'),
    spaced('\\*', 'times'),
    infix('&', 'and'),
    [/±/g, 'plus or minus '],
    [/[~≈] ?(?=[\d$€£])/g, 'about '],
    [/∞/g, 'infinity'],
    [/√ ?(?=\d)/g, 'the square root of '],
    [/© ?/g, 'copyright '],
    [/[™®]/g, ''],
    [/(?<=\bC)\+\+/g, ' plus plus'],
    [/(?<=\b[CF])#(?!\w)/g, ' sharp'],
    [/(?<![\w@])@(?=\w)/g, 'at '],
    [/\bw\/o(?= )/g, 'without'],
    [/\b24\/7\b/g, 'twenty-four seven'],
    [/\/(?=(?:second|minute|hour|day|night|week|month|year|person|user)\b)/g, ' per '],
  ],
  words: {
    codeOnScreen: 'The code is on screen.',
    formulaOnScreen: 'a formula is on screen',
    tableOnScreen: (rows) => `A table with ${english.cardinal(String(rows))} ${rows === 1 ? 'row' : 'rows'} is on screen.`,
    listOnScreen: (items) => `A list with ${english.cardinal(String(items))} ${items === 1 ? 'entry' : 'entries'} is on screen.`,
    restOnScreen: 'The rest of the list is on screen.',
    dot: 'dot',
    at: 'at',
    to: 'to',
    minus: 'minus',
    plus: 'plus',
    times: 'times',
    equals: 'equals',
    about: 'about',
    and: 'and',
    number: 'number',
    percent: 'percent',
    version: 'version',
    squared: 'squared',
    cubed: 'cubed',
    power: 'to the power of',
    half: 'one half',
    third: 'one third',
    twoThirds: 'two thirds',
    quarter: 'one quarter',
    threeQuarters: 'three quarters',
  },
  acronyms: { ...sayAsWord, OK: 'okay', ASAP: 'as soon as possible', FAQ: 'F A Q' },
  listOrdinals: 'First Second Third Fourth Fifth Sixth Seventh Eighth Ninth Tenth'.split(' '),
};

const de: SpokenLocale = {
  numbers: german,
  decimal: ',',
  months: 'Januar Februar März April Mai Juni Juli August September Oktober November Dezember'.split(' '),
  units: {
    'MB/s': ['Megabyte pro Sekunde', 'Megabyte pro Sekunde'],
    'GB/s': ['Gigabyte pro Sekunde', 'Gigabyte pro Sekunde'],
    'km/h': ['Kilometer pro Stunde', 'Kilometer pro Stunde'],
    km: ['Kilometer', 'Kilometer'],
    cm: ['Zentimeter', 'Zentimeter'],
    mm: ['Millimeter', 'Millimeter'],
    m: ['Meter', 'Meter'],
    kg: ['Kilogramm', 'Kilogramm'],
    mg: ['Milligramm', 'Milligramm'],
    g: ['Gramm', 'Gramm'],
    ml: ['Milliliter', 'Milliliter'],
    l: ['Liter', 'Liter'],
    '°C': ['Grad Celsius', 'Grad Celsius'],
    '°': ['Grad', 'Grad'],
    TB: ['Terabyte', 'Terabyte'],
    GB: ['Gigabyte', 'Gigabyte'],
    MB: ['Megabyte', 'Megabyte'],
    KB: ['Kilobyte', 'Kilobyte'],
    ms: ['Millisekunde', 'Millisekunden'],
    min: ['Minute', 'Minuten'],
    s: ['Sekunde', 'Sekunden'],
    h: ['Stunde', 'Stunden'],
    GHz: ['Gigahertz', 'Gigahertz'],
    MHz: ['Megahertz', 'Megahertz'],
    kHz: ['Kilohertz', 'Kilohertz'],
    Hz: ['Hertz', 'Hertz'],
    kWh: ['Kilowattstunde', 'Kilowattstunden'],
    kW: ['Kilowatt', 'Kilowatt'],
    W: ['Watt', 'Watt'],
    V: ['Volt', 'Volt'],
    px: ['Pixel', 'Pixel'],
    dB: ['Dezibel', 'Dezibel'],
    'm²': ['Quadratmeter', 'Quadratmeter'],
    'km²': ['Quadratkilometer', 'Quadratkilometer'],
    'cm²': ['Quadratzentimeter', 'Quadratzentimeter'],
    'm³': ['Kubikmeter', 'Kubikmeter'],
    'm/s': ['Meter pro Sekunde', 'Meter pro Sekunde'],
    'Mbit/s': ['Megabit pro Sekunde', 'Megabit pro Sekunde'],
    kcal: ['Kilokalorie', 'Kilokalorien'],
    t: ['Tonne', 'Tonnen'],
  },
  money: {
    '€': { unit: ['Euro', 'Euro'], cent: null },
    EUR: { unit: ['Euro', 'Euro'], cent: null },
    Euro: { unit: ['Euro', 'Euro'], cent: null },
    $: { unit: ['Dollar', 'Dollar'], cent: null },
    US$: { unit: ['US-Dollar', 'US-Dollar'], cent: null },
    USD: { unit: ['US-Dollar', 'US-Dollar'], cent: null },
    '£': { unit: ['Pfund', 'Pfund'], cent: null },
    CHF: { unit: ['Franken', 'Franken'], cent: null },
  },
  abbreviations: [
    [/\bz\. ?B\./g, 'zum Beispiel'],
    [/\bd\. ?h\./g, 'das heißt'],
    [/\bu\. ?a\./g, 'unter anderem'],
    [/\busw\./g, 'und so weiter'],
    [/\bbzw\./g, 'beziehungsweise'],
    [/\bca\. /g, 'circa '],
    [/\bvgl\. /g, 'vergleiche '],
    [/\bggf\. /g, 'gegebenenfalls '],
    [/\binkl\. /g, 'inklusive '],
    [/\bNr\. /g, 'Nummer '],
    [/\bDr\. /g, 'Doktor '],
    [/\bProf\. /g, 'Professor '],
    [/\bHr\. /g, 'Herr '],
    [/\bFr\. /g, 'Frau '],
    [/\bMio\. /g, 'Millionen '],
    [/\bMrd\. /g, 'Milliarden '],
    [/\bgeb\. (?=\d)/g, 'geboren '],
    [/\bS\. (?=\d)/g, 'Seite '],
    [/\bAbb\. (?=\d)/g, 'Abbildung '],
    [/\bevtl\. /g, 'eventuell '],
    [/\bbspw\. /g, 'beispielsweise '],
    [/\bu\. ?U\./g, 'unter Umständen'],
    [/\bi\. ?d\. ?R\./g, 'in der Regel'],
    [/\bo\. ?Ä\./g, 'oder Ähnliches'],
    [/\bs\. ?o\./g, 'siehe oben'],
    [/\bv\. ?a\./g, 'vor allem'],
    [/\betc\./g, 'et cetera'],
    [/\bStr\. /g, 'Straße '],
    [/\bTel\. /g, 'Telefon '],
    [/\bSt\. (?=\p{Lu})/gu, 'Sankt '],
    [/\bmind\. /g, 'mindestens '],
    [/\bmax\. /g, 'maximal '],
  ],
  signs: [
    infix('→', 'zu'),
    spaced('[-=]>', 'zu'),
    infix('≤', 'kleiner gleich'),
    [/≤ ?/g, 'höchstens '],
    infix('≥', 'größer gleich'),
    [/≥ ?/g, 'mindestens '],
    infix('≠', 'ungleich'),
    spaced('<', 'kleiner als'),
    spaced('>', 'größer als'),
    infix('÷', 'geteilt durch'),
    spaced('\\*', 'mal'),
    infix('&', 'und'),
    [/±/g, 'plus minus '],
    [/[~≈] ?(?=[\d$€£])/g, 'etwa '],
    [/∞/g, 'unendlich'],
    [/√ ?(?=\d)/g, 'Wurzel aus '],
    [/© ?/g, 'Copyright '],
    [/[™®]/g, ''],
    [/(?<=\bC)\+\+/g, ' plus plus'],
    [/(?<=\b[CF])#(?!\w)/g, ' Sharp'],
    [/(?<![\w@])@(?=\w)/g, 'ät '],
    [/\/(?=(?:Sekunde|Minute|Stunde|Tag|Nacht|Woche|Monat|Jahr|Person)\b)/g, ' pro '],
    [/§§ ?(?=\d)/g, 'Paragrafen '],
    [/§ ?(?=\d)/g, 'Paragraf '],
  ],
  words: {
    codeOnScreen: 'Der Code steht auf dem Bildschirm.',
    formulaOnScreen: 'eine Formel steht auf dem Bildschirm',
    tableOnScreen: (rows) =>
      `Eine Tabelle mit ${rows === 1 ? 'einer Zeile' : `${german.cardinal(String(rows))} Zeilen`} steht auf dem Bildschirm.`,
    listOnScreen: (items) =>
      `Eine Liste mit ${items === 1 ? 'einem Eintrag' : `${german.cardinal(String(items))} Einträgen`} steht auf dem Bildschirm.`,
    restOnScreen: 'Der Rest der Liste steht auf dem Bildschirm.',
    dot: 'Punkt',
    at: 'ät',
    to: 'bis',
    minus: 'minus',
    plus: 'plus',
    times: 'mal',
    equals: 'gleich',
    about: 'etwa',
    and: 'und',
    number: 'Nummer',
    percent: 'Prozent',
    version: 'Version',
    squared: 'hoch zwei',
    cubed: 'hoch drei',
    power: 'hoch',
    half: 'ein halb',
    third: 'ein Drittel',
    twoThirds: 'zwei Drittel',
    quarter: 'ein Viertel',
    threeQuarters: 'drei Viertel',
  },
  acronyms: { ...sayAsWord, OK: 'okay' },
  listOrdinals: 'Erstens Zweitens Drittens Viertens Fünftens Sechstens Siebtens Achtens Neuntens Zehntens'.split(' '),
};

/** A language without words of its own gets its marks dropped and its numbers left: a wrong language is worse than a digit. */
export const spokenLocales: Readonly<Record<string, SpokenLocale>> = { en, de };
