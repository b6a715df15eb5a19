// `npm run build`: sources → out/main/*.cjs, out/preload/index.cjs, out/renderer/**.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build as buildElectron } from 'electron-vite';
import { build } from 'vite';
import { entries, external, targets } from './entries.ts';
import { moduleList } from './moduleList.mjs';

/**
 * Builds everything. Entries whose source does not exist are left out with a note.
 *
 * @param {{ only?: readonly string[], quiet?: boolean }} [options]  `only`: names of entries, or `app` for main, preload and page.
 */
export async function bundle({ only, quiet = false } = {}) {
  const wanted = (name) => only === undefined || only.includes(name);
  const logLevel = quiet ? 'warn' : 'info';
  process.env.NODE_ENV = 'production';
  if (wanted('app')) await buildElectron({ logLevel });
  for (const entry of entries) {
    if (entry.kind !== 'child' || !wanted(entry.name)) continue;
    if (!existsSync(entry.source)) {
      console.log(`bundle: ${entry.name} left out, there is no ${entry.source}`);
      continue;
    }
    await build(childConfig(entry, logLevel));
  }
  if (only === undefined) removeStale();
}

/** Files of entries that are gone. Nothing is emptied beforehand: an app that runs from here may still open its files. */
function removeStale() {
  const known = new Set(entries.flatMap(({ name }) => [`${name}.cjs`, `${name}.cjs.map`]));
  for (const name of readdirSync('out/main')) if (!known.has(name)) rmSync(`out/main/${name}`, { recursive: true, force: true });
}

/** @param {import('./entries.ts').Entry} entry */
function childConfig(entry, logLevel) {
  return {
    configFile: false,
    root: process.cwd(),
    mode: 'production',
    logLevel,
    // Node reads its own environment: nothing is put in at build time.
    envDir: false,
    publicDir: false,
    plugins: [moduleList(entry.name)],
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: true,
      target: targets.child,
      outDir: 'out/main',
      emptyOutDir: false,
      sourcemap: true,
      minify: false,
      rolldownOptions: {
        input: { [entry.name]: resolve(entry.source) },
        external: [...external],
        platform: 'node',
        output: { format: 'cjs', entryFileNames: '[name].cjs', codeSplitting: false },
      },
    },
  };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const only = process.argv.slice(2);
  await bundle(only.length > 0 ? { only } : {});
}
