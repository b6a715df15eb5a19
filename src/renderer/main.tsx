import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { I18nextProvider } from 'react-i18next';
import { App } from './app/App.tsx';
import { createAppTransport } from './lib/appTransport.ts';
import { browserClock } from './lib/browserClock.ts';
import { createServices, ServicesProvider } from './lib/services.tsx';
import { createTexts } from './lib/texts.ts';
import { themeName } from './lib/theme.ts';
import { createWebTransport } from './lib/webTransport.ts';

// Before the first paint: a dark window must not flash white while the settings are read.
document.documentElement.dataset['theme'] = themeName('system', {
  dark: matchMedia('(prefers-color-scheme: dark)').matches,
  contrast: matchMedia('(prefers-contrast: more)').matches,
});

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no root');

const services = createServices({
  transport: window.sotto === undefined ? createWebTransport() : createAppTransport(window.sotto),
  clock: browserClock,
});

createRoot(root).render(
  <StrictMode>
    <I18nextProvider i18n={createTexts()}>
      <ServicesProvider services={services}>
        <App />
      </ServicesProvider>
    </I18nextProvider>
  </StrictMode>,
);
