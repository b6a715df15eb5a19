import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { modulesOf, strayModules } from '../../build/bundleCheck.mjs';
import { moduleList } from '../../build/moduleList.mjs';

// The bug: a helper file of main, imported by the runtime, that brings Electron with it although no Electron line stays in the bundle.
describe('the bundle check', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sotto-bundle-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  async function modulesOfBuild(entry: string, ssr: boolean): Promise<readonly string[]> {
    await build({
      configFile: false,
      logLevel: 'silent',
      plugins: [moduleList('fixture', folder)],
      build: {
        ssr,
        outDir: join(folder, 'out'),
        rolldownOptions: { input: join('test/build/fixtures/bundle', entry), external: ['electron'] },
      },
    });
    return modulesOf('fixture', folder).map((id) => id.replace('test/build/fixtures/bundle/', ''));
  }

  it('finds Electron and main behind two harmless imports of the runtime', async () => {
    const stray = strayModules('runtime', await modulesOfBuild('src/runtime/entry.ts', true));
    expect(stray.map((line) => line.split(':')[0])).toEqual(['electron', 'src/main/shorten.ts']);
  });

  it('finds Node in the page', async () => {
    const stray = strayModules('renderer', await modulesOfBuild('src/renderer/page.ts', false));
    expect(stray.map((line) => line.replace(/: .*/, ''))).toEqual(['__vite-browser-external:node:fs']);
  });

  it.each([
    ['runtime', 'node_modules/koffi/index.js'],
    ['runtime', 'native/llama/library.ts'],
    ['engine', 'node_modules/better-sqlite3/lib/index.js'],
    ['engine', 'src/runtime/platform/fetch.ts'],
    ['engine', 'node:net'],
    ['renderer', 'better-sqlite3'],
    ['renderer', 'koffi'],
    ['main', 'src/runtime/entry/forkMain.ts'],
    ['preload', 'node_modules/zod/index.js'],
  ] as const)('%s must not reach %s', (kind, id) => {
    expect(strayModules(kind, ['src/shared/util/clock.ts', id])).toHaveLength(1);
  });
});
