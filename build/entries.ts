/** A source that becomes one file of `out/`. */
export type Entry = {
  readonly name: string;
  readonly source: string;
  /** `main` runs inside Electron (Node 18.15 on the oldest one), `child` on Node 22 or later: in a utility process or as plain Node. */
  readonly kind: 'main' | 'child';
};

/**
 * Everything that becomes a file of `out/main`. To add a process or a worker, add its line here. Each entry is bundled alone: a
 * shared chunk would tie main to code of the runtime.
 */
export const entries: readonly Entry[] = [
  { name: 'index', source: 'src/main/index.ts', kind: 'main' },
  { name: 'utility', source: 'src/runtime/entry/utilityMain.ts', kind: 'child' },
  { name: 'runtime', source: 'src/runtime/entry/forkMain.ts', kind: 'child' },
  { name: 'cli', source: 'src/runtime/entry/cli.ts', kind: 'child' },
  { name: 'readerWorker', source: 'src/runtime/store/readerWorker.ts', kind: 'child' },
  { name: 'npmFetch', source: 'src/runtime/models/sources/npmFetch.ts', kind: 'child' },
  { name: 'engine', source: 'src/engine/entry/main.ts', kind: 'child' },
  { name: 'llmWorker', source: 'src/engine/workers/llmWorker.ts', kind: 'child' },
  { name: 'vadWorker', source: 'src/engine/workers/vadWorker.ts', kind: 'child' },
  { name: 'asrWorker', source: 'src/engine/workers/asrWorker.ts', kind: 'child' },
  { name: 'ttsWorker', source: 'src/engine/workers/ttsWorker.ts', kind: 'child' },
  { name: 'prepareWorker', source: 'src/engine/workers/prepareWorker.ts', kind: 'child' },
];

/** The oldest Electron that this code has to run on (25: Chromium 114, Node 18.15) decides the targets. */
export const targets = { chrome: 'chrome114', main: 'node18.15', child: 'node22.14' } as const;

/**
 * Packages that stay outside the bundles: they hold native code, or find their own files at run time. All else is bundled, so that
 * a child starts from one file.
 */
export const external: readonly (string | RegExp)[] = [
  'electron',
  /^(better-sqlite3|koffi|onnxruntime-node|pacote|phonemize|phonemizer)(\/|$)/,
  /^(@node-llama-cpp|@koromix|@npmcli)\//,
];
