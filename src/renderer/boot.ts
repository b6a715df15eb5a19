import './styles/app.css';

// The page's policy forbids code out of text. Zod would try it once to know, and that try alone is reported as a violation.
Reflect.set(globalThis, '__zod_globalConfig', { jitless: true });

// The frame of index.html is on the screen before the page's own scripts take the thread: what they cost is then no white window.
const start = () => import('./main.tsx');
if (document.visibilityState === 'hidden') void start();
else requestAnimationFrame(() => setTimeout(start));
