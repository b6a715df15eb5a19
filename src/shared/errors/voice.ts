import { z } from 'zod';
import type { ErrorRow } from './row.ts';

const none = z.object({});
/** Its name as the system gives it; empty while the page may not know it. */
const device = z.object({ device: z.string() });

/** Microphone, loudspeaker and the sound that passes them (voice page, section 22). */
export const voiceErrors = {
  /** Another page has the microphone, or something is being said. */
  VOICE_BUSY: { status: 409, exitCode: 75, retryable: true, textKey: 'errors.voiceBusy', data: none },
  VOICE_NOT_ARMED: { status: 409, exitCode: 64, retryable: false, textKey: 'errors.voiceNotArmed', data: none },
  /** The page's voice line is gone; it opens a new one. */
  VOICE_LINE_UNKNOWN: { status: 409, exitCode: 75, retryable: true, textKey: 'errors.voiceLineUnknown', data: none },
  MIC_DENIED: { status: 409, exitCode: 77, retryable: false, textKey: 'errors.micDenied', data: none },
  MIC_MISSING: { status: 409, exitCode: 69, retryable: true, textKey: 'errors.micMissing', data: none },
  /** It is there and may be used, but gives no stream: another program holds it, or its driver failed. */
  MIC_UNREADABLE: { status: 409, exitCode: 69, retryable: true, textKey: 'errors.micUnreadable', data: device },
  MIC_SILENT: { status: 409, exitCode: 69, retryable: true, textKey: 'errors.micSilent', data: device },
  MIC_MUTED: { status: 409, exitCode: 77, retryable: false, textKey: 'errors.micMuted', data: none },
  VOICE_DEVICE_CHANGED: { status: 409, exitCode: 69, retryable: true, textKey: 'errors.voiceDeviceChanged', data: device },
  DEVICE_LOST: {
    status: 409,
    exitCode: 69,
    retryable: true,
    textKey: 'errors.deviceLost',
    data: z.object({ kind: z.enum(['input', 'output']) }),
  },
  /** Nothing that counts as words (VO-58): a value to a caller, a notice to a person. `level` in dBFS. */
  NOTHING_HEARD: {
    status: 422,
    exitCode: 65,
    retryable: true,
    textKey: 'errors.nothingHeard',
    data: z.object({ device: z.string(), level: z.number().nullable() }),
  },
  ASR_FAILED: { status: 502, exitCode: 70, retryable: true, textKey: 'errors.asrFailed', data: none },
  TTS_FAILED: { status: 502, exitCode: 70, retryable: true, textKey: 'errors.ttsFailed', data: none },
  /** Only a person at a window or a page may do it: a mute is never lifted by a program (VO-09). */
  USER_ONLY: { status: 403, exitCode: 77, retryable: false, textKey: 'errors.userOnly', data: none },
  /** The rest are notices: what voice did by itself, and why. */
  VOICE_TOO_LONG: { status: 409, exitCode: 65, retryable: false, textKey: 'errors.voiceTooLong', data: none },
  VOICE_IDLE: { status: 409, exitCode: 69, retryable: false, textKey: 'errors.voiceIdle', data: none },
  VOICE_MEMORY: { status: 503, exitCode: 69, retryable: true, textKey: 'errors.voiceMemory', data: z.object({}).catchall(z.number()) },
  VOICE_PAGE_GONE: { status: 409, exitCode: 69, retryable: false, textKey: 'errors.voicePageGone', data: none },
  /** The older activity model decides (VO-103). */
  VOICE_ACTIVITY_SPARE: { status: 409, exitCode: 69, retryable: false, textKey: 'errors.voiceActivitySpare', data: none },
  /** Talking takes longer than it used to on this machine (VO-77). */
  VOICE_SLOWER: { status: 409, exitCode: 69, retryable: false, textKey: 'errors.voiceSlower', data: z.object({ stage: z.string() }) },
} as const satisfies Record<string, ErrorRow>;
