import { z } from 'zod';
import type { ErrorRow } from './row.ts';

const none = z.object({});

export const storeErrors = {
  DATA_DIR_IN_USE: { status: 409, exitCode: 75, retryable: true, textKey: 'errors.dataDirInUse', data: none },
  DB_FROM_FUTURE: {
    status: 409,
    exitCode: 78,
    retryable: false,
    textKey: 'errors.dbFromFuture',
    data: z.object({ found: z.int(), known: z.int() }),
  },
  DB_DAMAGED: {
    status: 500,
    exitCode: 65,
    retryable: false,
    textKey: 'errors.dbDamaged',
    data: z.object({ movedTo: z.string(), backupAt: z.string().nullable() }),
  },
  STORE_FULL: {
    status: 507,
    exitCode: 74,
    retryable: true,
    textKey: 'errors.storeFull',
    data: z.object({ freeBytes: z.int().nullable() }),
  },
  STORE_BUSY: { status: 503, exitCode: 75, retryable: true, textKey: 'errors.storeBusy', data: none },
  STORE_READ_ONLY: { status: 503, exitCode: 74, retryable: true, textKey: 'errors.storeReadOnly', data: none },
  STORE_IO: { status: 500, exitCode: 74, retryable: true, textKey: 'errors.storeIo', data: none },
} as const satisfies Record<string, ErrorRow>;
