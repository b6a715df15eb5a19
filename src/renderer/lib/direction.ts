/**
 * The direction of the first letter, as `dir="auto"` decides it, from the beginning of the text alone. With `dir="auto"` Chromium takes
 * 6 s for a text of 1 MB (measured, version 156).
 */
export function directionOf(text: string): 'ltr' | 'rtl' {
  const letter = /\p{L}/u.exec(text.slice(0, 400))?.[0];
  return letter !== undefined && /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(letter)
    ? 'rtl'
    : 'ltr';
}
