import { useSyncExternalStore } from 'react';

/** Whether a media query holds now. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const list = window.matchMedia(query);
      list.addEventListener('change', changed);
      return () => list.removeEventListener('change', changed);
    },
    () => window.matchMedia(query).matches,
  );
}

/** The two designed sizes and the one column (UX-153), in rem so that a larger text size folds the layout as well. */
export function useLayout(): 'one' | 'narrow' | 'wide' {
  const one = useMedia('(max-width: 43.74rem)');
  const wide = useMedia('(min-width: 64rem)');
  return one ? 'one' : wide ? 'wide' : 'narrow';
}
