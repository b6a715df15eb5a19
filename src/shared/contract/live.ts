import { z } from 'zod';

/** One item of a live value: the whole snapshot with a rising revision. */
export function live<T extends z.ZodType>(value: T) {
  return z.object({ revision: z.int().min(1), value });
}
