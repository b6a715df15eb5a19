// `node build/bundleCheck.mjs`: what each bundle of out/ reaches, against what its process may hold. The import rules see one import
// at a time; this sees what comes along through anything.
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { pathToFileURL } from 'node:url';

const packages = (...names) => new RegExp(`^(${names.join('|')})(/|$)|(^|/)node_modules/(${names.join('|')})/`);
// In a page's bundle vite puts a stub in the place of a Node module, and keeps the name in the stub's id.
const nodeBuiltin = new RegExp(
  `^(__vite-browser-external:)?node:|^__vite-browser-external|^(${builtinModules.filter((name) => !name.startsWith('_')).join('|')})$`,
);

const window = packages('electron');
const store = packages('better-sqlite3', 'kysely');
const nativeModels = packages('koffi', '@koromix/[^/]+', '@node-llama-cpp/[^/]+', 'onnxruntime-node', 'sherpa-onnx-node');
const web = packages('hono', '@hono/[^/]+', 'ws');

/** What a bundle of each kind must not reach, with the reason that is printed. */
const forbidden = {
  main: [
    [/^(src\/(runtime|engine|renderer)|native)\//, 'main starts the other programs by file name'],
    [store, 'the database library aborts Electron processes older than Node-API 10'],
    [nativeModels, 'a native fault would take the app down'],
    [web, 'main is no web server'],
  ],
  preload: [
    [/^(src\/(runtime|engine|renderer|main)|native)\//, 'the preload script is one bridge'],
    [/(^|\/)node_modules\//, 'the preload script is sandboxed'],
    [nodeBuiltin, 'the preload script is sandboxed'],
  ],
  runtime: [
    [window, 'the runtime runs under plain Node as well'],
    [/^src\/(main|preload|renderer)\//, 'one stray import of a main file pulls Electron in'],
    [/^native\//, 'native code runs in engines'],
    [nativeModels, 'native code runs in engines'],
    [packages('react', 'react-dom', 'zustand'), 'the runtime has no window'],
  ],
  engine: [
    [window, 'engines run under plain Node as well'],
    [/^src\/(main|preload|renderer|runtime)\//, 'an engine holds a native library and nothing of the product'],
    [store, 'the runtime is the single writer'],
    [web, 'engines have no network'],
    [/^(node:)?(http|https|http2|net|tls|dgram|dns)$/, 'engines have no network'],
  ],
  renderer: [
    [window, 'the page is sandboxed'],
    [/^(src\/(runtime|engine|main|preload)|native)\//, 'the page knows the contract only'],
    [store, 'the page holds no truth'],
    [nativeModels, 'the page is sandboxed'],
    [nodeBuiltin, 'there is no Node in the page'],
    [packages('hono', 'ws', 'pino', 'pacote'), 'there is no Node in the page'],
  ],
};

/**
 * @param {keyof typeof forbidden} kind
 * @param {readonly string[]} modules  as `build/moduleList.mjs` writes them.
 * @returns {string[]} one line per module that must not be there.
 */
export function strayModules(kind, modules) {
  return modules.flatMap((id) => {
    const hit = forbidden[kind].find(([pattern]) => pattern.test(id));
    return hit === undefined ? [] : [`${id}: ${hit[1]}`];
  });
}

/** @param {{ name: string, source: string, kind: string }} entry  a line of `build/entries.ts`. */
export function kindOf(entry) {
  if (entry.kind === 'main') return 'main';
  return entry.source.startsWith('src/engine/') ? 'engine' : 'runtime';
}

/** The bundles of the app: those of the entries, the preload script and the page. */
export function bundles(entries) {
  const own = entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
  return [...own, { name: 'preload', kind: 'preload' }, { name: 'renderer', kind: 'renderer' }];
}

/** @returns {string[]} the modules of a bundle; throws when it was not built. */
export const modulesOf = (name, folder = 'out/modules') => JSON.parse(readFileSync(`${folder}/${name}.json`, 'utf8'));

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { entries } = await import('./entries.ts');
  let strays = 0;
  for (const { name, kind } of bundles(entries)) {
    const modules = modulesOf(name);
    const stray = strayModules(kind, modules);
    strays += stray.length;
    console.log(`${stray.length === 0 ? '✓' : '✗'} ${name.padEnd(10)} ${kind.padEnd(9)} ${modules.length} modules`);
    for (const line of stray) console.log(`    ${line}`);
  }
  process.exitCode = strays === 0 ? 0 : 1;
}
