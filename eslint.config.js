// Typed lint: what only types can see, and the doors of the architecture page. Biome formats, so nothing here is about looks.

import { globalIgnores } from 'eslint/config';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const byClock = 'Take it from an injected Clock (src/runtime/platform): a test has to be able to turn the time.';
const byDoor = 'Traffic goes through platform/fetch, which writes the ledger row first (PV-03, PV-04).';

const noNetworkGlobals = ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'].map((name) => ({ name, message: byDoor }));
const noTimers = ['setTimeout', 'setInterval', 'setImmediate'].map((name) => ({ name, message: byClock }));
const noClock = [
  { selector: "MemberExpression[object.name='Date'][property.name='now']", message: byClock },
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: byClock },
  { selector: "CallExpression[callee.name='Date']", message: byClock },
  { selector: "MemberExpression[object.name='performance'][property.name='now']", message: byClock },
];
// `globalThis.fetch` and the like are the same door with another handle.
const noGlobalThis = ['globalThis', 'window', 'self', 'global'].flatMap((object) =>
  ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'].map((property) => ({ object, property, message: byDoor })),
);
const networkModules = ['http', 'https', 'http2', 'net', 'tls', 'dgram', 'dns', 'dns/promises'].flatMap((name) => [name, `node:${name}`]);
const noNetworkModules = {
  paths: [...networkModules, 'undici', 'ws', 'timers', 'node:timers', 'timers/promises', 'node:timers/promises'].map((name) => ({
    name,
    message: name.includes('timers') ? byClock : byDoor,
    // A type opens no socket.
    allowTypeImports: true,
  })),
};
const noIpcRenderer = {
  selector: "ImportSpecifier[imported.name='ipcRenderer'], MemberExpression[property.name='ipcRenderer']",
  message: 'Only the preload script touches ipcRenderer: the page gets a MessagePort and nothing else.',
};
const handwriting = [
  { selector: 'ExportAllDeclaration', message: 'Name what is exported: a barrel hides who uses what.' },
  { selector: 'ExportDefaultDeclaration', message: 'Exports have names.' },
];

// Types of packages that ship none look like those packages.
const notProduct = ['**/*.d.ts'];
const product = ['src/**/*.{ts,tsx}', 'native/**/*.ts'];

export default tseslint.config(
  globalIgnores([
    'node_modules',
    'out',
    'release',
    'tmp',
    'test-results',
    'test/boundaries/fixtures',
    'test/build/fixtures',
    '**/*.{js,mjs,cjs}',
    '**/*.d.mts',
  ]),
  {
    files: ['**/*.{ts,tsx}'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: {
        project: [
          'src/shared/tsconfig.json',
          'src/runtime/tsconfig.json',
          'src/engine/tsconfig.json',
          'src/main/tsconfig.json',
          'src/renderer/tsconfig.json',
          'test/tsconfig.json',
        ],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error', noInlineConfig: true },
    rules: {
      '@typescript-eslint/no-floating-promises': ['error', { checkThenables: true }],
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      // What arrives on a socket is one of these, and says its text by `toString`.
      '@typescript-eslint/no-base-to-string': [
        'error',
        { ignoredTypeNames: ['Error', 'RegExp', 'URL', 'URLSearchParams', 'RawData', 'ArrayBuffer'] },
      ],
      // `declare global` has no other form.
      '@typescript-eslint/no-namespace': ['error', { allowDeclarations: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' }],
      // An async function without await is how a plain value meets an asynchronous port.
      '@typescript-eslint/require-await': 'off',
      // Our services are plain factories: their methods use no `this`, and are handed on as values.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': 'allow-with-description' }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'off',
    },
  },
  {
    files: product,
    ignores: notProduct,
    rules: {
      'no-restricted-syntax': ['error', ...handwriting, noIpcRenderer],
      'no-restricted-globals': ['error', ...noNetworkGlobals],
      'no-restricted-properties': ['error', ...noGlobalThis],
      '@typescript-eslint/no-restricted-imports': ['error', noNetworkModules],
    },
  },
  {
    // Time comes from a Clock. Main and page show and animate, engines and native run beside the clock of the runtime.
    files: ['src/runtime/**/*.ts', 'src/shared/**/*.ts'],
    ignores: notProduct,
    rules: {
      'no-restricted-syntax': ['error', ...handwriting, noIpcRenderer, ...noClock],
      'no-restricted-globals': ['error', ...noNetworkGlobals, ...noTimers],
    },
  },
  {
    // The ports themselves.
    files: ['src/runtime/platform/**/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', ...handwriting],
      'no-restricted-globals': 'off',
      'no-restricted-properties': 'off',
      '@typescript-eslint/no-restricted-imports': 'off',
    },
  },
  {
    // The loopback server listens; it opens no connection.
    files: ['src/runtime/http/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { paths: noNetworkModules.paths.filter(({ name }) => !/^(node:)?(http|net)$|^ws$/.test(name)) },
      ],
    },
  },
  {
    files: ['src/preload/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...handwriting] },
  },
  {
    files: ['src/renderer/**/*.{ts,tsx}'],
    plugins: { 'react-hooks': reactHooks },
    rules: {
      // The rules of React itself. Those of its compiler, which we do not use, refuse refs that are read on purpose, and take as long as the rest.
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
    },
  },
  {
    // The one socket of the served page.
    files: ['src/renderer/lib/**/*.{ts,tsx}'],
    rules: { 'no-restricted-globals': ['error', ...noNetworkGlobals.filter(({ name }) => name !== 'WebSocket')] },
  },
  {
    // Beside it the served page asks its own server whether it is still signed in.
    files: ['src/renderer/lib/webTransport.ts'],
    rules: { 'no-restricted-globals': ['error', ...noNetworkGlobals.filter(({ name }) => name !== 'WebSocket' && name !== 'fetch')] },
  },
  {
    // What a test reads from JSON, or inside a page, it asserts in the next line.
    files: ['test/**/*.{ts,tsx}', 'e2e/**/*.ts'],
    rules: {
      ...Object.fromEntries(
        ['assignment', 'member-access', 'call', 'return', 'argument'].map((what) => [`@typescript-eslint/no-unsafe-${what}`, 'off']),
      ),
      '@typescript-eslint/restrict-plus-operands': 'off',
      '@typescript-eslint/no-base-to-string': 'off',
    },
  },
  {
    // console is the output of a command line, or of a child whose last words its parent reads; all else logs.
    files: product,
    ignores: ['src/runtime/entry/**', 'src/runtime/models/sources/npmFetch.ts'],
    rules: { 'no-console': 'error' },
  },
);
