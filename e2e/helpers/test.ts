import { rm } from 'node:fs/promises';
import { test as base, expect } from '@playwright/test';
import type { RequirementId } from '../../test/requirements.ts';
import { launch, logOf, type Sotto } from './launch.ts';
import { emptyDataFolder, freshDataFolder } from './template.ts';

type Options = { withModel: boolean; firstRun: boolean };
type Fixtures = {
  /** This test's data folder. With `test.use({ withModel: true })` the starter model is installed in it; with `firstRun` it is empty. */
  data: string;
  /** Opens the app on a data folder; all that a test opened is closed at its end. */
  open: (data: string, env?: Readonly<Record<string, string>>, build?: string, flags?: readonly string[]) => Promise<Sotto>;
  /** The app, open. */
  sotto: Sotto;
};

export const test = base.extend<Fixtures & Options>({
  withModel: [false, { option: true }],
  firstRun: [false, { option: true }],
  data: async ({ withModel, firstRun }, use, info) => {
    const folder = await (firstRun ? emptyDataFolder() : freshDataFolder(withModel));
    await use(folder);
    if (info.status !== info.expectedStatus) await info.attach('sotto.log', { body: await logOf(folder), contentType: 'text/plain' });
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  },
  open: async ({}, use, info) => {
    const opened: Sotto[] = [];
    await use(async (data, env, build, flags) => {
      const sotto = await launch(data, env, build, flags);
      opened.push(sotto);
      return sotto;
    });
    for (const sotto of opened) {
      if (info.status !== info.expectedStatus) {
        const body = await sotto.page.screenshot().catch(() => null);
        if (body !== null) await info.attach('window.png', { body, contentType: 'image/png' });
        await info.attach('main.log', { body: sotto.said.join('\n'), contentType: 'text/plain' });
      }
      await sotto.quit().catch(() => {});
    }
  },
  sotto: async ({ open, data }, use) => {
    await use(await open(data));
  },
});

/** Says which rows of `test/requirements.ts` a test proves. */
export const proves = (...ids: RequirementId[]) => ({ annotation: { type: 'verifies', description: ids.join(' ') } });

export { expect };
