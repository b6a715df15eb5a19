import { useEffect } from 'react';
import { stepMessage } from '../features/chat/index.ts';
import { useUi } from '../lib/ui.ts';
import { places } from './places.ts';

/** Keys that work everywhere in the window (experience page, section 4). On macOS Cmd stands for Ctrl. */
export function useKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      const deed = deedOf(event);
      if (deed === null) return;
      event.preventDefault();
      deed();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

function deedOf(event: KeyboardEvent): (() => void) | null {
  const ui = useUi.getState();
  const key = event.key.toLowerCase();
  if (event.key === 'F6') return () => stepRegion(event.shiftKey ? -1 : 1);
  if (event.altKey && !event.ctrlKey && !event.metaKey && ui.place === 'chat' && (key === 'arrowup' || key === 'arrowdown')) {
    return () => stepMessage(document.querySelector('[data-region="thread"]'), key === 'arrowup' ? -1 : 1);
  }
  const mod = isMac() ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  if (!mod || event.altKey) return null;
  if (event.shiftKey) {
    if (key !== 'f') return null;
    return () => {
      ui.go('chat');
      ui.set({ listOpen: true, trashOpen: false });
      // The list may only now come onto the page.
      requestAnimationFrame(() => document.getElementById('search-chats')?.focus());
    };
  }
  if (key === 'n') {
    return () => {
      ui.openChat(null);
      requestAnimationFrame(() => document.getElementById('message')?.focus());
    };
  }
  if (key === 'b') return () => ui.set({ listOpen: !ui.listOpen });
  const place = places.find((p) => p.key === key);
  return place === undefined ? null : () => ui.go(place.id);
}

function isMac(): boolean {
  return /mac/i.test(navigator.platform);
}

/** F6: the next region that can take the focus, in reading order, round and round (UX-90). */
function stepRegion(step: 1 | -1): void {
  const regions = [...document.querySelectorAll<HTMLElement>('[data-region]')];
  const at = regions.findIndex((r) => r.contains(document.activeElement));
  for (let i = 1; i <= regions.length; i++) {
    const region = regions[(at + step * i + regions.length * i) % regions.length];
    const target = region?.querySelector<HTMLElement>(
      'textarea, [aria-current="page"], button:not([tabindex="-1"]):not(:disabled), input, a[href]',
    );
    const focus = region?.dataset['region'] === 'thread' || target == null ? region : target;
    focus?.focus();
    if (focus !== undefined && focus === document.activeElement) return;
  }
}
