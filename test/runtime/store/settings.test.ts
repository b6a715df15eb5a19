import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migration } from '../../../src/runtime/store/migrations/0003-server.ts';
import { createSettings } from '../../../src/runtime/store/settings.ts';
import { SettingsPatch } from '../../../src/shared/contract/settings.ts';

let db: Database.Database;
beforeEach(() => {
  db = new Database(':memory:');
  migration.up(db);
});
afterEach(() => db.close());

it('changing one setting keeps the others, over a restart', () => {
  createSettings({ db }).set(SettingsPatch.parse({ theme: 'dark' }));
  createSettings({ db }).set(SettingsPatch.parse({ announce: 'off' }));
  expect(createSettings({ db }).get()).toMatchObject({ theme: 'dark', sendKey: 'enter', announce: 'off' });
});

it('a value that this build does not know is read as the default and kept', () => {
  const write = db.prepare('INSERT INTO settings (name, value) VALUES (?, ?)');
  write.run('theme', '"sepia"');
  write.run('fromTheFuture', '{"a":1}');
  write.run('__proto__', '1');
  const settings = createSettings({ db });
  expect(settings.get()).toEqual({
    theme: 'system',
    sendKey: 'enter',
    announce: 'end',
    microphone: null,
    loudspeaker: null,
    voiceId: null,
    voiceSpeed: 1,
    tones: true,
    firstRun: 'privacy',
    typeOnly: false,
    lookForUpdates: false,
    searchHub: false,
    lookForModels: false,
    muted: false,
  });
  settings.set({ sendKey: 'ctrlEnter' });
  expect(db.prepare<[], { value: string }>("SELECT value FROM settings WHERE name = 'theme'").get()?.value).toBe('"sepia"');
});

it('a watcher sees the present settings and then each change', async () => {
  const settings = createSettings({ db });
  const watch = settings.watch();
  expect((await watch.next()).value).toMatchObject({ value: { theme: 'system' } });
  settings.set({ theme: 'light' });
  expect((await watch.next()).value).toMatchObject({ value: { theme: 'light' } });
  settings.close();
  expect((await watch.next()).done).toBe(true);
});

it('who has chats is past the first steps, and can be led through them again', () => {
  expect(createSettings({ db }).get().firstRun).toBe('privacy');
  const settings = createSettings({ db, usedBefore: true });
  expect(settings.get().firstRun).toBe('done');
  settings.set({ firstRun: 'privacy' });
  expect(createSettings({ db, usedBefore: true }).get().firstRun).toBe('privacy');
});
