import { z } from 'zod';
import type { ErrorRow } from './row.ts';

const none = z.object({});
const unavailable = z.object({
  reason: z.enum(['library-missing', 'model-missing', 'load-failed', 'shape-mismatch', 'not-ready', 'language']),
});

/** Hearing and speaking (voice page, section 22). */
export const speechErrors = {
  VAD_UNAVAILABLE: { status: 503, exitCode: 69, retryable: false, textKey: 'errors.vadUnavailable', data: unavailable },
  ASR_UNAVAILABLE: { status: 503, exitCode: 69, retryable: false, textKey: 'errors.asrUnavailable', data: unavailable },
  TTS_UNAVAILABLE: { status: 503, exitCode: 69, retryable: false, textKey: 'errors.ttsUnavailable', data: unavailable },
  VOICE_UNKNOWN: { status: 400, exitCode: 64, retryable: false, textKey: 'errors.voiceUnknown', data: none },
  /** Punctuation or signs only: there is nothing to pronounce. */
  TEXT_UNSPEAKABLE: { status: 422, exitCode: 65, retryable: false, textKey: 'errors.textUnspeakable', data: none },
  INVALID_AUDIO: { status: 400, exitCode: 65, retryable: false, textKey: 'errors.invalidAudio', data: z.object({ reason: z.string() }) },
  AUDIO_TOO_SHORT: { status: 400, exitCode: 65, retryable: false, textKey: 'errors.audioTooShort', data: none },
  AUDIO_FORMAT_UNSUPPORTED: {
    status: 415,
    exitCode: 65,
    retryable: false,
    textKey: 'errors.audioFormatUnsupported',
    data: z.object({ format: z.string() }),
  },
} as const satisfies Record<string, ErrorRow>;
