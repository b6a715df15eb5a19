import { z } from 'zod';
import type { ErrorRow } from './row.ts';

const none = z.object({});

/** Processes, engines and native libraries (models page, section 13). */
export const engineErrors = {
  LOCAL_INFERENCE_UNAVAILABLE: {
    status: 503,
    exitCode: 69,
    retryable: false,
    textKey: 'errors.localInferenceUnavailable',
    data: z.object({ reasons: z.array(z.string()) }),
  },
  MODEL_NOT_INSTALLED: {
    status: 404,
    exitCode: 66,
    retryable: false,
    textKey: 'errors.modelNotInstalled',
    data: z.object({ modelId: z.string() }),
  },
  MODEL_DOES_NOT_FIT: {
    status: 422,
    exitCode: 69,
    retryable: false,
    textKey: 'errors.modelDoesNotFit',
    data: z.object({ needBytes: z.int(), freeBytes: z.int() }),
  },
  MODEL_FILE_CORRUPT: {
    status: 422,
    exitCode: 65,
    retryable: false,
    textKey: 'errors.modelFileCorrupt',
    data: z.object({ reason: z.string() }),
  },
  MODEL_ARCH_UNSUPPORTED: {
    status: 422,
    exitCode: 65,
    retryable: false,
    textKey: 'errors.modelArchUnsupported',
    data: z.object({ architecture: z.string() }),
  },
  TEMPLATE_REJECTED: {
    status: 422,
    exitCode: 65,
    retryable: false,
    textKey: 'errors.templateRejected',
    data: z.object({ reason: z.string() }),
  },
  MODEL_DISABLED: { status: 409, exitCode: 69, retryable: false, textKey: 'errors.modelDisabled', data: z.object({ crashes: z.int() }) },
  NATIVE_LIBRARY_MISSING: {
    status: 503,
    exitCode: 69,
    retryable: false,
    textKey: 'errors.nativeLibraryMissing',
    data: z.object({ library: z.string() }),
  },
  NATIVE_ABI_MISMATCH: {
    status: 503,
    exitCode: 69,
    retryable: false,
    textKey: 'errors.nativeAbiMismatch',
    data: z.object({ library: z.string(), expected: z.string(), found: z.string() }),
  },
  UNSUPPORTED: { status: 422, exitCode: 69, retryable: false, textKey: 'errors.unsupported', data: z.object({ what: z.string() }) },
  ENGINE_STARTING: {
    status: 503,
    exitCode: 75,
    retryable: true,
    textKey: 'errors.engineStarting',
    data: z.object({ engineKey: z.string() }),
  },
  ENGINE_BREAKER_OPEN: {
    status: 503,
    exitCode: 75,
    retryable: true,
    textKey: 'errors.engineBreakerOpen',
    data: z.object({ engineKey: z.string(), retryAfterMs: z.int() }),
  },
  ENGINE_CRASHED: {
    status: 503,
    exitCode: 70,
    retryable: true,
    textKey: 'errors.engineCrashed',
    data: z.object({ engineKey: z.string(), stage: z.string() }),
  },
  ENGINE_FAULT: {
    status: 503,
    exitCode: 70,
    retryable: true,
    textKey: 'errors.engineFault',
    data: z.object({ engineKey: z.string(), stage: z.string() }),
  },
  ENGINE_TIMEOUT: {
    status: 503,
    exitCode: 70,
    retryable: true,
    textKey: 'errors.engineTimeout',
    data: z.object({ engineKey: z.string(), stage: z.string() }),
  },
  ENGINE_PROTOCOL: {
    status: 503,
    exitCode: 70,
    retryable: true,
    textKey: 'errors.engineFault',
    data: z.object({ engineKey: z.string(), stage: z.string() }),
  },
  OUT_OF_MEMORY: { status: 503, exitCode: 69, retryable: false, textKey: 'errors.outOfMemory', data: z.object({ stage: z.string() }) },
  RUNTIME_UNAVAILABLE: { status: 503, exitCode: 69, retryable: true, textKey: 'errors.runtimeUnavailable', data: none },
} as const satisfies Record<string, ErrorRow>;
