import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { errors } from './errors.ts';
import { live } from './live.ts';

const fields = {
  theme: z.enum(['system', 'light', 'dark', 'contrast']),
  sendKey: z.enum(['enter', 'ctrlEnter']),
  /** How a growing answer is announced to a screen reader (UX-124). */
  announce: z.enum(['sentences', 'end', 'off']),
};

/** Every setting has a default here; an unknown stored value falls back to it. */
export const Settings = z.strictObject({
  theme: fields.theme.default('system'),
  sendKey: fields.sendKey.default('enter'),
  announce: fields.announce.default('end'),
});
export type Settings = z.infer<typeof Settings>;

// Not `Settings.partial()`: zod fills defaults in below `optional`, so that changing one setting would reset the others.
export const SettingsPatch = z.strictObject(fields).partial();
export type SettingsPatch = z.infer<typeof SettingsPatch>;

export const settings = {
  watch: oc
    .errors(errors())
    .input(z.strictObject({}))
    .output(eventIterator(live(Settings))),
  set: oc.errors(errors()).input(SettingsPatch).output(Settings),
};
