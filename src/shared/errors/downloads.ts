import { z } from 'zod';
import type { ErrorRow } from './row.ts';

const none = z.object({});

/** The whole truth about how getting a model can fail (models page, 9.6). */
export const downloadErrors = {
  MODEL_UNKNOWN: { status: 404, exitCode: 66, retryable: false, textKey: 'errors.modelUnknown', data: z.object({ modelId: z.string() }) },
  JOB_NOT_FOUND: { status: 404, exitCode: 66, retryable: false, textKey: 'errors.jobNotFound', data: none },
  JOB_STATE: { status: 409, exitCode: 65, retryable: false, textKey: 'errors.jobState', data: z.object({ phase: z.string() }) },
  DISK_FULL: {
    status: 507,
    exitCode: 74,
    retryable: true,
    textKey: 'errors.diskFull',
    data: z.object({ neededBytes: z.int(), freeBytes: z.int() }),
  },
  NO_NETWORK: { status: 503, exitCode: 69, retryable: true, textKey: 'errors.noNetwork', data: none },
  OFFLINE: { status: 503, exitCode: 69, retryable: true, textKey: 'errors.offline', data: none },
  DOWNLOAD_STALLED: { status: 503, exitCode: 75, retryable: true, textKey: 'errors.downloadStalled', data: none },
  DOWNLOAD_HTTP: { status: 502, exitCode: 69, retryable: true, textKey: 'errors.downloadHttp', data: z.object({ status: z.int() }) },
  HUB_GATED_REPO: { status: 403, exitCode: 77, retryable: false, textKey: 'errors.hubGatedRepo', data: none },
  SOURCE_FILE_MISSING: { status: 502, exitCode: 66, retryable: false, textKey: 'errors.sourceFileMissing', data: none },
  PACKAGE_CLIENT_MISSING: {
    status: 409,
    exitCode: 69,
    retryable: false,
    textKey: 'errors.packageClientMissing',
    data: z.object({ client: z.string() }),
  },
  PACKAGE_FETCH_FAILED: {
    status: 502,
    exitCode: 69,
    retryable: true,
    textKey: 'errors.packageFetchFailed',
    data: z.object({ client: z.string(), exitCode: z.int().nullable(), lastLine: z.string() }),
  },
  DOWNLOAD_HASH_MISMATCH: {
    status: 502,
    exitCode: 65,
    retryable: true,
    textKey: 'errors.hashMismatch',
    data: z.object({ file: z.string(), expected: z.string(), actual: z.string() }),
  },
  DOWNLOAD_SIZE_MISMATCH: {
    status: 502,
    exitCode: 65,
    retryable: true,
    textKey: 'errors.sizeMismatch',
    data: z.object({ file: z.string(), expected: z.int(), actual: z.int() }),
  },
  DOWNLOAD_NOT_A_MODEL: {
    status: 502,
    exitCode: 65,
    retryable: true,
    textKey: 'errors.notAModel',
    data: z.object({ firstLine: z.string() }),
  },
  DOWNLOAD_INSECURE_REDIRECT: { status: 502, exitCode: 69, retryable: false, textKey: 'errors.insecureRedirect', data: none },
  DOWNLOAD_TOO_MANY_REDIRECTS: { status: 502, exitCode: 69, retryable: false, textKey: 'errors.tooManyRedirects', data: none },
  ARCHIVE_UNSAFE_MEMBER: { status: 400, exitCode: 65, retryable: false, textKey: 'errors.archiveUnsafeMember', data: none },
  ARCHIVE_TOO_LARGE: { status: 413, exitCode: 65, retryable: false, textKey: 'errors.archiveTooLarge', data: none },
} as const satisfies Record<string, ErrorRow>;
