/** Written with a full stop that ends no phrase, lower case. Single letters ("J.", "z. B.", "p.m.") need no entry. */
const abbreviations: Readonly<Record<string, readonly string[]>> = {
  en: 'mr mrs ms dr prof sr jr st vs etc approx fig inc ltd co corp dept est no vol pp jan feb mar apr jun jul aug sep sept oct nov dec'.split(
    ' ',
  ),
  de: 'hr fr dr prof nr usw bzw ca str abs evtl ggf inkl mio mrd vgl st tel bsp etc jan feb apr aug sept okt nov dez geb gest'.split(' '),
};

/** @param word  the letters before the full stop. */
export function isAbbreviation(word: string, language: string): boolean {
  return (abbreviations[language] ?? abbreviations.en ?? []).includes(word.toLowerCase());
}
