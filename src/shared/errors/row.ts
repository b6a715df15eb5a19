import type { z } from 'zod';

/** One way to fail: its HTTP status, process exit code (sysexits.h), whether asking again can help, its text and its data. */
export type ErrorRow = {
  readonly status: number;
  readonly exitCode: number;
  readonly retryable: boolean;
  readonly textKey: string;
  readonly data: z.ZodObject;
};
