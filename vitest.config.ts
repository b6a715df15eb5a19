import { defineConfig } from 'vitest/config';

const node = { environment: 'node' as const, setupFiles: ['test/helpers/setup.ts'], pool: 'forks' as const };
const kinds = ['contract', 'process', 'native', 'check', 'long'] as const;

// One project per level (style page, section 5); the file's ending decides, `unit` takes the rest.
export default defineConfig({
  test: {
    reporters: ['default', './test/requirements/reporter.ts'],
    projects: [
      {
        test: {
          ...node,
          name: 'unit',
          include: ['test/**/*.test.{ts,tsx}'],
          exclude: [...kinds.map((kind) => `test/**/*.${kind}.test.ts`), 'test/runtime/store/**', 'test/renderer/**'],
        },
      },
      { test: { ...node, name: 'contract', include: ['test/**/*.contract.test.ts'], testTimeout: 30_000 } },
      {
        test: {
          ...node,
          name: 'store',
          include: ['test/runtime/store/**/*.test.ts'],
          exclude: ['**/*.process.test.ts'],
          testTimeout: 30_000,
        },
      },
      { test: { ...node, name: 'process', include: ['test/**/*.process.test.ts'], testTimeout: 60_000, fileParallelism: false } },
      { test: { ...node, name: 'native', include: ['test/**/*.native.test.ts'], testTimeout: 120_000, fileParallelism: false } },
      // Of the built app: needs out/.
      { test: { ...node, name: 'check', include: ['test/**/*.check.test.ts'], testTimeout: 60_000 } },
      {
        test: {
          ...node,
          name: 'page',
          environment: 'jsdom',
          include: ['test/renderer/**/*.test.{ts,tsx}'],
          setupFiles: ['test/helpers/setup.ts', 'test/renderer/setup.ts'],
        },
      },
    ],
  },
});
