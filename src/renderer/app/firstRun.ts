import { useCallback, useEffect, useState } from 'react';
import type { Settings } from '../../shared/contract/settings.ts';

const hint = 'sotto.firstRun';

/**
 * Whether the first steps are shown. Until the settings are read, a page that has been through them shows its places at once, and another
 * one nothing yet: the first thing a new person sees must not be taken away again.
 *
 * @param unreadable  the settings will not come; then the places are shown.
 */
export function useFirstRun(settings: Settings | null, unreadable: boolean): { show: 'steps' | 'places' | 'nothing'; leave: () => void } {
  // The setting may not be kept, on a disk that is full; whoever has left the steps has left them.
  const [left, setLeft] = useState(false);
  const step = settings?.firstRun ?? null;
  useEffect(() => {
    if (step !== null) remember(step === 'done');
    if (step === 'done') setLeft(false);
  }, [step]);
  const leave = useCallback(() => setLeft(true), []);
  if (step === null) return { show: unreadable || remembered() ? 'places' : 'nothing', leave };
  return { show: step === 'done' || left ? 'places' : 'steps', leave };
}

function remembered(): boolean {
  try {
    return localStorage.getItem(hint) === 'done';
  } catch {
    return false;
  }
}

function remember(done: boolean): void {
  try {
    if (done) localStorage.setItem(hint, 'done');
    else localStorage.removeItem(hint);
  } catch {
    // Without it the next start shows its places a moment later.
  }
}
