import { Languages } from 'lucide-react';
import { useTexts } from '../../lib/texts.ts';

/** The languages that have texts. A new one is a file of texts and its name here. */
const languages = [{ id: 'en', key: 'onboarding.english' }] as const;

/** The menu that is set from the system. There are English texts only so far, and it says so to whoever expects others. */
export function LanguageMenu() {
  const t = useTexts();
  const system = navigator.language;
  const known = languages.some(({ id }) => system === id || system.startsWith(`${id}-`));
  return (
    <div className="min-w-0">
      <label className="flex items-center justify-end gap-8 text-small text-text-2">
        <Languages size={16} strokeWidth={1.75} aria-hidden="true" />
        <span className="sr-only">{t('onboarding.language')}</span>
        <select className="h-control rounded-field border border-control bg-surface px-8 text-ui text-text" defaultValue="en">
          {languages.map(({ id, key }) => (
            <option key={id} value={id}>
              {t(key)}
            </option>
          ))}
        </select>
      </label>
      {!known && <p className="mt-4 text-end text-small text-text-2">{t('onboarding.languageOnly', { language: nameOf(system) })}</p>}
    </div>
  );
}

function nameOf(language: string): string {
  try {
    return new Intl.DisplayNames('en', { type: 'language' }).of(language) ?? language;
  } catch {
    return language;
  }
}
