import path from 'node:path';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { build } from 'vite';

/**
 * Builds the page alone, with the targets of the product's own build.
 *
 * @param root  folder of another index.html, for a part of the page that is tested by itself.
 * @returns     the folder that holds index.html.
 */
export async function buildPage(outDir: string, root = path.resolve(import.meta.dirname, '../../src/renderer')): Promise<string> {
  await build({
    configFile: false,
    root,
    base: './',
    logLevel: 'warn',
    plugins: [react(), tailwindcss()],
    build: {
      target: 'chrome114',
      cssTarget: 'chrome114',
      outDir,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 1500,
    },
  });
  return outDir;
}
