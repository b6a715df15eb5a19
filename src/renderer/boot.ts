import './styles/app.css';

// The frame of index.html is on the screen before the page's own scripts take the thread: what they cost is then no white window.
const start = () => import('./main.tsx');
if (document.visibilityState === 'hidden') void start();
else requestAnimationFrame(() => setTimeout(start));
