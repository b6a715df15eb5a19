import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/**
 * Vite plugin that writes down every module that a bundle reaches, also those of which nothing stayed in it and those outside it:
 * what `build/bundleCheck.mjs` reads.
 *
 * @param {string} name    of the bundle.
 * @param {string} folder  where the list goes, as `<name>.json`.
 */
export function moduleList(name, folder = 'out/modules') {
  return {
    name: 'sotto-module-list',
    buildEnd(error) {
      if (error !== undefined) return;
      const modules = [...this.getModuleIds()].map((id) => idOf(id)).sort();
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(modules, null, 1)}\n`);
    },
  };
}

// A file of the checkout by its path in it, a package by its place in node_modules, all else (`node:fs`, `electron`) as it is written.
function idOf(id) {
  const path = id.replace(/^\0+/, '').replace(/\?.*$/, '');
  return path.startsWith(process.cwd() + sep) ? relative(process.cwd(), path).replaceAll(sep, '/') : path;
}
