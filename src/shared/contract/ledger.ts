import { oc } from '@orpc/contract';
import { z } from 'zod';
import { Timestamp } from '../domain/time.ts';
import { errors } from './errors.ts';

/** One outbound request (PV-04): written before the socket opens, completed after. No path, query or body. */
export const LedgerRow = z.strictObject({
  id: z.int(),
  at: Timestamp,
  reason: z.enum(['model_download', 'catalogue', 'package', 'update']),
  host: z.string(),
  port: z.int().nullable(),
  asker: z.string(),
  sentBytes: z.int().nullable(),
  receivedBytes: z.int().nullable(),
  /** `open` while it runs, or after a crash; `refused` never opened a socket. `note` says what the ledger cannot see (pip). */
  result: z.enum(['open', 'ok', 'failed', 'refused']),
  note: z.string().nullable(),
});
export type LedgerRow = z.infer<typeof LedgerRow>;

export const ledger = {
  list: oc
    .errors(errors('CURSOR_MALFORMED'))
    .input(z.strictObject({ limit: z.int().min(1).max(500).default(100), before: z.int().min(1).optional() }))
    .output(z.strictObject({ rows: z.array(LedgerRow), nextBefore: z.int().nullable() })),
};
