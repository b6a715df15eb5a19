import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { chat } from '../helpers/chat.ts';
import { seed } from '../helpers/template.ts';
import { expect, test } from '../helpers/test.ts';

test('a data folder that is in use is said, and another try opens it', async ({ open, data }) => {
  const other = new DatabaseSync(path.join(data, 'lock.db'));
  other.exec('PRAGMA journal_mode = MEMORY; PRAGMA user_version = 1; BEGIN EXCLUSIVE');
  const { page } = await open(data);
  await expect(page.getByText('Another Sotto already uses this data folder.')).toBeVisible();
  other.exec('ROLLBACK');
  other.close();
  await page.getByRole('main').getByRole('button').first().click();
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
});

test.describe('with a database of a newer Sotto', () => {
  test.use({ withModel: true });
  test('it is refused and stays as it is', async ({ open, data }) => {
    const file = path.join(data, 'sotto.db');
    const db = new DatabaseSync(file);
    db.exec('PRAGMA user_version = 999; PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    const digest = () => createHash('sha256').update(readFileSync(file)).digest('hex');
    const before = digest();
    const sotto = await open(data);
    await expect(sotto.page.getByText(/written by a newer Sotto \(format 999/)).toBeVisible();
    await sotto.quit();
    expect(digest()).toBe(before);
  });
});

test('damaged chats come back from their backup at a press', async ({ open, data }) => {
  await seed(data, 'The seeded answer.');
  const file = path.join(data, 'sotto.db');
  const db = new DatabaseSync(file);
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  await mkdir(path.join(data, 'backups'), { recursive: true });
  await copyFile(file, path.join(data, 'backups', `sotto-v${version}-20260102T030405000.db`));
  await writeFile(file, 'this is no database, and long enough to be looked at as one '.repeat(200));

  const { page } = await open(data);
  await expect(page.getByText('Chats cannot be read: the file is damaged.')).toBeVisible();
  await page.getByRole('button', { name: 'Restore', exact: true }).click();
  const c = chat(page);
  await c.openChat('Seeded chat');
  await expect(c.answers.first()).toContainText('The seeded answer.');
});

test('a runtime that cannot start at all is said, with a button; the window lives', async ({ open, data }) => {
  const { page, said } = await open(data, { SOTTO_NODE: '/bin/false' });
  await expect(page.getByText('The part of Sotto that keeps your chats does not answer.')).toBeVisible();
  // Main may have said its first lines before we listened: the number of the start tells them all.
  const starts = () =>
    said
      .flatMap((line) => /"process.started".*"generation":(\d+)/.exec(line)?.[1] ?? [])
      .map(Number)
      .at(-1);
  // Three tries, then the breaker; a press is a person's wish and tries again.
  expect(starts()).toBe(3);
  await page.getByRole('main').getByRole('button').first().click();
  await expect.poll(starts).toBe(6);
  await expect(page.getByText('The part of Sotto that keeps your chats does not answer.')).toBeVisible();
});
