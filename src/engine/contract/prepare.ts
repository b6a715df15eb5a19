import { z } from 'zod';

/** What is done once to a file that was downloaded, before it is loaded for the first time. Methods of the engine key `probe`. */

const Part = z.strictObject({ role: z.string().min(1).max(32), bytes: z.int().positive() });

export const PrepareParams = z.strictObject({
  from: z.string().min(1),
  /** Parts of the file in their order; the one that is changed is `model`, the others are copied. */
  parts: z.array(Part).min(1).max(64),
  /** Is made, or overwritten: half a file there means that an earlier try was cut short. */
  to: z.string().min(1),
});
export type PrepareParams = z.infer<typeof PrepareParams>;

export const PrepareResult = z.strictObject({ bytes: z.int().positive(), sha256: z.string(), parts: z.array(Part), ms: z.number() });
export type PrepareResult = z.infer<typeof PrepareResult>;

export const prepareMethods = {
  /** Integer convolutions of an ONNX file become float ones: 1.6 to 1.9 times as fast on most processors (speech facts, section 6). */
  'prepare.floatConv': { params: PrepareParams, chunk: z.strictObject({ fraction: z.number().min(0).max(1) }), result: PrepareResult },
} as const;
