import { defineConfig } from '@playwright/test';

// Real windows and real models share two cores: one test at a time, and patience that only a hang uses up.
export default defineConfig({
  testDir: 'e2e',
  outputDir: 'out/e2e',
  workers: 1,
  fullyParallel: false,
  forbidOnly: true,
  retries: 0,
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: [['list'], ['./test/requirements/playwrightReporter.ts']],
  globalSetup: './e2e/helpers/globalSetup.ts',
  use: { screenshot: 'off', trace: 'off' },
  projects: [
    { name: 'electron', testDir: 'e2e/electron', testMatch: '*.spec.ts' },
    { name: 'web', testDir: 'e2e/web', testMatch: '*.spec.ts' },
  ],
});
