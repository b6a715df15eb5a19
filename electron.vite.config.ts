import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'electron-vite';
import type { Plugin } from 'vite';
import { entries, external, targets } from './build/entries.ts';
import { moduleList } from './build/moduleList.mjs';

// electron-vite would take its targets and module format from the installed Electron; the oldest one decides instead.
const main = entries.find((entry) => entry.kind === 'main');
if (main === undefined || !existsSync(main.source)) throw new Error('build/entries.ts names no main entry');

/** The page's scripts are fetched and compiled while the frame is painted; `boot.ts` runs them after it. */
const preloadMain: Plugin = {
  name: 'preload-main',
  transformIndexHtml: {
    order: 'post',
    handler(_html, { bundle = {} }) {
      const chunk = Object.values(bundle).find((file) => file.type === 'chunk' && file.name === 'main');
      if (chunk === undefined) throw new Error('boot.ts imports no chunk called main');
      return [{ tag: 'link', attrs: { rel: 'modulepreload', href: `./${chunk.fileName}` }, injectTo: 'head' }];
    },
  },
};

export default defineConfig({
  main: {
    plugins: [moduleList(main.name)],
    build: {
      target: targets.main,
      sourcemap: true,
      emptyOutDir: false,
      externalizeDeps: false,
      rolldownOptions: {
        input: { [main.name]: resolve(main.source) },
        external: [...external],
        output: { format: 'cjs', entryFileNames: '[name].cjs', codeSplitting: false },
      },
    },
  },
  preload: {
    plugins: [moduleList('preload')],
    build: {
      target: targets.main,
      sourcemap: false,
      externalizeDeps: false,
      rolldownOptions: {
        input: { index: resolve('src/preload/index.ts') },
        external: [...external],
        output: { format: 'cjs', entryFileNames: '[name].cjs', codeSplitting: false },
      },
    },
  },
  renderer: {
    root: 'src/renderer',
    base: './',
    plugins: [react(), tailwindcss(), moduleList('renderer'), preloadMain],
    build: {
      target: targets.chrome,
      cssTarget: targets.chrome,
      emptyOutDir: true,
      sourcemap: false,
      minify: true,
      cssMinify: 'lightningcss',
      // An inlined asset would be a data: address in a script, which the page's CSP refuses for everything but pictures.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 1500,
      rolldownOptions: { input: { index: resolve('src/renderer/index.html') } },
    },
  },
});
