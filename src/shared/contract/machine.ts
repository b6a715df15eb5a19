import { oc } from '@orpc/contract';
import { z } from 'zod';
import { errors } from './errors.ts';

/** What was found of this machine. Sizes are bytes; `null` = the system does not say, and nothing is guessed in its place. */
export const MachineInfo = z.strictObject({
  /** `linux`, `darwin`, `win32` as Node names them, and `x64`, `arm64`. */
  platform: z.string(),
  architecture: z.string(),
  /** Its maker's name for it. */
  processor: z.string().nullable(),
  /** What it computes at once: cores, or two for each where they are split. */
  threads: z.int().positive(),
  memory: z.strictObject({
    totalBytes: z.int().positive(),
    /** What programs can still take without pushing others out. */
    freeBytes: z.int().min(0),
  }),
  disk: z.strictObject({
    /** On the volume of the models. */
    freeBytes: z.int().min(0).nullable(),
    /** What a download leaves free (DL-04). */
    keptFreeBytes: z.int().min(0),
  }),
  /** Which form of its library the answering engine took for this processor; known from the first load on. */
  cpuVariant: z.string().nullable(),
  /** No request leaves this machine, since it was started so. */
  offline: z.boolean(),
});
export type MachineInfo = z.infer<typeof MachineInfo>;

export const machine = {
  /** Looked at anew with each call. */
  info: oc.errors(errors()).input(z.strictObject({})).output(MachineInfo),
};
