import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, type Page } from '@playwright/test';

/** Makes a data folder forget that the first steps were done; nobody may have it open. */
export function forgetFirstRun(data: string): void {
  const db = new DatabaseSync(path.join(data, 'sotto.db'));
  try {
    db.prepare("INSERT OR REPLACE INTO settings (name, value) VALUES ('firstRun', '\"privacy\"')").run();
  } finally {
    db.close();
  }
}

/** The first steps as a person meets them. */
export function firstRun(page: Page) {
  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true });
  const titles = {
    privacy: 'It all happens on this machine',
    microphone: 'Can Sotto hear you?',
    machine: 'What this machine runs',
  } as const;
  return {
    heading,
    at: (step: keyof typeof titles) => expect(heading(titles[step])).toBeVisible({ timeout: 60_000 }),
    button: (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' }),
    /** Goes to a control by the Tab key alone and presses it. */
    async byKeyboard(name: string | RegExp, key: 'Enter' | 'Space' = 'Enter'): Promise<void> {
      const target = page.getByRole('button', { name, exact: typeof name === 'string' }).or(page.getByRole('switch', { name }));
      await expect(target.first()).toBeEnabled();
      for (let i = 0; i < 40; i += 1) {
        if (await target.first().evaluate((node) => node === document.activeElement)) return page.keyboard.press(key);
        await page.keyboard.press('Tab');
      }
      throw new Error(`the keyboard does not reach ${String(name)}`);
    },
  };
}
