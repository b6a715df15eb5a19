import { cleanup, configure } from '@testing-library/react';
import { afterEach } from 'vitest';

// The machine may be busy with other tests; a state that comes late still comes.
configure({ asyncUtilTimeout: 10_000 });

afterEach(() => cleanup());

// What jsdom lacks and the page uses. Layout is not computed here: what needs it is tested in a real browser (window/*.test.ts).
if (typeof window !== 'undefined') {
  class NoResizeObserver {
    observe() {}
    unobserve() {}
    disconnect() {}
  }
  window.ResizeObserver ??= NoResizeObserver;
  globalThis.ResizeObserver ??= NoResizeObserver;
  const missing = {
    scrollIntoView: () => {},
    scrollTo: () => {},
    hasPointerCapture: () => false,
    setPointerCapture: () => {},
    releasePointerCapture: () => {},
  };
  for (const [name, value] of Object.entries(missing))
    if (!(name in Element.prototype)) Object.assign(Element.prototype, { [name]: value });
  // There is nothing to draw on; what a picture shows stands beside it in words.
  Object.defineProperty(HTMLCanvasElement.prototype, 'getContext', { configurable: true, value: () => null });
  // Lists that draw only what is in view need a height to be in view of.
  Object.defineProperty(HTMLElement.prototype, 'clientHeight', { configurable: true, get: () => 720 });
  Object.defineProperty(HTMLElement.prototype, 'clientWidth', { configurable: true, get: () => 720 });
  Object.defineProperty(HTMLElement.prototype, 'offsetHeight', { configurable: true, get: () => 240 });
  globalThis.CSS ??= { escape: (text: string) => text.replace(/[^\w-]/g, '\\$&') } as typeof CSS;
}
