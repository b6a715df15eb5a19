import { useEffect } from 'react';
import type { Settings } from '../../shared/contract/settings.ts';
import { useMedia } from './useMedia.ts';

/** Which block of tokens.css applies. */
export function themeName(theme: Settings['theme'], system: { dark: boolean; contrast: boolean }): string {
  const scheme = system.dark ? 'dark' : 'light';
  if (theme === 'contrast' || (theme === 'system' && system.contrast)) return `contrast-${scheme}`;
  return theme === 'system' ? scheme : theme;
}

/** Puts the theme on the document; the system's choice counts until the setting is known. */
export function useTheme(theme: Settings['theme'] | undefined): void {
  const dark = useMedia('(prefers-color-scheme: dark)');
  const contrast = useMedia('(prefers-contrast: more)');
  const name = themeName(theme ?? 'system', { dark, contrast });
  useEffect(() => {
    document.documentElement.dataset['theme'] = name;
  }, [name]);
}
