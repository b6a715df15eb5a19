import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { errors } from './errors.ts';
import { live } from './live.ts';

/** Every setting has a default here; an unknown stored value falls back to it. */
export const Settings = z.strictObject({
  theme: z.enum(['system', 'light', 'dark', 'contrast']).default('system'),
  sendKey: z.enum(['enter', 'ctrlEnter']).default('enter'),
  /** How a growing answer is announced to a screen reader (UX-124). */
  announce: z.enum(['sentences', 'end', 'off']).default('end'),
});
export type Settings = z.infer<typeof Settings>;

export const settings = {
  watch: oc
    .errors(errors())
    .input(z.strictObject({}))
    .output(eventIterator(live(Settings))),
  set: oc.errors(errors()).input(Settings.partial()).output(Settings),
};
