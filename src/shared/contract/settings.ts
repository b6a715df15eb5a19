import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { errors } from './errors.ts';
import { live } from './live.ts';

const fields = {
  theme: z.enum(['system', 'light', 'dark', 'contrast']),
  sendKey: z.enum(['enter', 'ctrlEnter']),
  /** How a growing answer is announced to a screen reader (UX-124). */
  announce: z.enum(['sentences', 'end', 'off']),
  /** Devices by name, since ids change from page to page (VO-04); null = the system's own. */
  microphone: z.string().max(512).nullable(),
  loudspeaker: z.string().max(512).nullable(),
  /** The voice for everything (VO-97); null = the pack's own. */
  voiceId: z.string().min(1).max(64).nullable(),
  voiceSpeed: z.number().min(0.5).max(2),
  /** The listening cue and the tones for slow and failed (UX-131). */
  tones: z.boolean(),
  /** Where first run stands; a person can leave it and come back (UX-17). */
  firstRun: z.enum(['privacy', 'microphone', 'machine', 'talk', 'done']),
  /** No wish to talk: first run then gets only what answers (UX-23). */
  typeOnly: z.boolean(),
  /** The three questions of Privacy; off until answered (UX-18). */
  lookForUpdates: z.boolean(),
  searchHub: z.boolean(),
  lookForModels: z.boolean(),
};

/** Every setting has a default here; an unknown stored value falls back to it. */
export const Settings = z.strictObject({
  theme: fields.theme.default('system'),
  sendKey: fields.sendKey.default('enter'),
  announce: fields.announce.default('end'),
  microphone: fields.microphone.default(null),
  loudspeaker: fields.loudspeaker.default(null),
  voiceId: fields.voiceId.default(null),
  voiceSpeed: fields.voiceSpeed.default(1),
  tones: fields.tones.default(true),
  firstRun: fields.firstRun.default('privacy'),
  typeOnly: fields.typeOnly.default(false),
  lookForUpdates: fields.lookForUpdates.default(false),
  searchHub: fields.searchHub.default(false),
  lookForModels: fields.lookForModels.default(false),
  /** Hard mute; changed by `voice.mute` alone, so it is no field of the patch (VO-09). */
  muted: z.boolean().default(false),
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
