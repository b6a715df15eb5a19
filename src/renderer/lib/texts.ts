import i18next, { type i18n } from 'i18next';
import { useCallback } from 'react';
import { initReactI18next, useTranslation } from 'react-i18next';
import { en } from '../texts/en.ts';

type Paths<T, Prefix extends string = ''> = {
  [K in keyof T & string]: T[K] extends string ? `${Prefix}${K}` : Paths<T[K], `${Prefix}${K}.`>;
}[keyof T & string];

type WithoutPlural<K extends string> = K extends `${infer Stem}_one` | `${infer Stem}_other` ? Stem : K;

/** Every text key of the page; plural forms share one. A key that no text has does not compile. */
export type TextKey = WithoutPlural<Paths<typeof en>>;

export type Texts = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string;

/** The texts of the page. A value that is not known is shown as "?", never as an empty place (UX-09). */
export function createTexts(language = 'en', other?: Record<string, unknown>): i18n {
  const texts = i18next.createInstance();
  void texts.use(initReactI18next).init({
    lng: language,
    fallbackLng: 'en',
    resources: { en: { translation: en }, ...(other === undefined ? {} : { [language]: { translation: other } }) },
    // React escapes by itself.
    interpolation: { escapeValue: false },
    missingInterpolationHandler: () => '?',
    initAsync: false,
  });
  return texts;
}

/** `t` of the page's language, by checked keys. */
export function useTexts(): Texts {
  const { t } = useTranslation();
  return useCallback((key, values) => t(key, values ?? {}), [t]);
}
