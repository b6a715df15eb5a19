import { z } from 'zod';
import type { ErrorRow } from './row.ts';

const none = z.object({});
/** Its name as the system gives it; empty while the page may not know it. */
const device = z.object({ device: z.string() });

/** Microphone, loudspeaker and the sound that passes them (voice page, section 22). */
export const voiceErrors = {
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
} as const satisfies Record<string, ErrorRow>;
