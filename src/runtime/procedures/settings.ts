import { implement } from '@orpc/server';
import { contract } from '../../shared/contract/index.ts';
import type { SettingsStore } from '../store/settings.ts';

export const settingsProcedures = (s: { settings: SettingsStore }) => {
  const os = implement(contract.settings);
  return os.router({
    watch: os.watch.handler(({ signal }) => s.settings.watch(signal)),
    set: os.set.handler(({ input }) => s.settings.set(input)),
  });
};
