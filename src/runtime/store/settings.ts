import type { Database } from 'better-sqlite3';
import { Settings, type SettingsPatch } from '../../shared/contract/settings.ts';
import { createLiveValue, type Snapshot } from '../../shared/util/liveValue.ts';

export type SettingsStore = {
  get(): Settings;
  /** Stores the named fields and tells every watcher. The mute has a call of its own and comes from there (VO-09). */
  set(patch: SettingsPatch & { readonly muted?: boolean }): Settings;
  watch(signal?: AbortSignal): AsyncGenerator<Snapshot<Settings>, void, void>;
  close(): void;
};

/** One transaction: `Store.write`, which turns SQLite's faults into ours. */
type Write = <T>(work: () => T) => T;

/**
 * Settings as rows of name and JSON value. A row that this build does not know, or whose value no longer fits, is left alone and
 * read as the default, so that an older build never destroys what a newer one stored.
 *
 * @param deps.usedBefore  there are chats: whoever has them is not led through the first steps by an update.
 */
export function createSettings(deps: { db: Database; write?: Write; usedBefore?: boolean }): SettingsStore {
  const read = deps.db.prepare<[], { name: string; value: string }>('SELECT name, value FROM settings');
  const write = deps.db.prepare<[string, string]>(
    'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  const transaction: Write = deps.write ?? ((work) => deps.db.transaction(work)());
  const live = createLiveValue(load());

  function load(): Settings {
    const stored: Record<string, unknown> = deps.usedBefore === true ? { firstRun: 'done' } : {};
    for (const row of read.all()) {
      const field = Object.hasOwn(Settings.shape, row.name) ? Settings.shape[row.name as keyof Settings] : undefined;
      const parsed = field?.safeParse(JSON.parse(row.value));
      if (parsed?.success) stored[row.name] = parsed.data;
    }
    return Settings.parse(stored);
  }

  return {
    get: () => live.get(),
    set(patch) {
      const given = Object.entries(patch).filter(([, value]) => value !== undefined);
      transaction(() => {
        for (const [name, value] of given) write.run(name, JSON.stringify(value));
      });
      live.set({ ...live.get(), ...Object.fromEntries(given) });
      return live.get();
    },
    watch: (signal) => live.watch(signal),
    close: () => live.close(),
  };
}

/** Whether somebody has used this data folder. @param db  the whole store. */
export function hasChats(db: Database): boolean {
  return db.prepare('SELECT 1 FROM sessions LIMIT 1').get() !== undefined;
}
