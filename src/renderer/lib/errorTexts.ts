import type { WireError } from '../../shared/errors/appError.ts';
import { codes, type ErrorCode } from '../../shared/errors/codes.ts';
import type { en } from '../texts/en.ts';
import { bytes, dateTime, duration, number } from './format.ts';

export type ErrorAction = keyof (typeof en)['actions'];
export type ErrorKey = keyof (typeof en)['errors'];

/** The button that belongs to each error, one per code: typed as a whole record, so that a new code does not compile without one. */
export const errorAction: Record<ErrorCode, ErrorAction> = {
  INVALID_INPUT: 'shorten',
  UNKNOWN_PROCEDURE: 'reload',
  FORBIDDEN_SENDER: 'reload',
  CANCELLED: 'retry',
  SHUTTING_DOWN: 'wait',
  HANDLE_CLOSED: 'retry',
  NOT_FOUND: 'reload',
  INTERNAL: 'copy',
  DATA_DIR_IN_USE: 'restart',
  DB_FROM_FUTURE: 'restart',
  DB_DAMAGED: 'restore',
  STORE_FULL: 'retry',
  STORE_BUSY: 'retry',
  STORE_READ_ONLY: 'retry',
  STORE_IO: 'retry',
  AGENT_NOT_FOUND: 'newChat',
  SESSION_NOT_FOUND: 'newChat',
  SESSION_CONFLICT: 'newChat',
  SESSION_LOG_TOO_LARGE: 'newChat',
  TURN_NOT_FOUND: 'reload',
  TURN_ACTIVE: 'stopRunning',
  TURN_MISMATCH: 'reload',
  NO_ACTIVE_TURN: 'dismiss',
  IDEMPOTENCY_KEY_REUSED: 'resend',
  STALE_WRITER: 'retry',
  INVALID_APPEND: 'retry',
  EVENT_TOO_LARGE: 'shorten',
  HISTORY_TOO_LARGE: 'retry',
  CURSOR_MALFORMED: 'retry',
  CURSOR_CROSS_SESSION: 'retry',
  CURSOR_EXPIRED: 'retry',
  CURSOR_INCOMPATIBLE: 'retry',
  CONTEXT_OVERFLOW: 'shorten',
  TURN_TIMEOUT: 'again',
  MODEL_STALLED: 'again',
  INTERRUPTED: 'again',
  TOO_MANY_REQUESTS: 'wait',
  SEARCH_TIMEOUT: 'retry',
  LOCAL_INFERENCE_UNAVAILABLE: 'again',
  MODEL_NOT_INSTALLED: 'get',
  MODEL_DOES_NOT_FIT: 'again',
  MODEL_FILE_CORRUPT: 'get',
  MODEL_ARCH_UNSUPPORTED: 'get',
  TEMPLATE_REJECTED: 'get',
  MODEL_DISABLED: 'enable',
  NATIVE_LIBRARY_MISSING: 'copyDetails',
  NATIVE_ABI_MISMATCH: 'copyDetails',
  UNSUPPORTED: 'dismiss',
  ENGINE_STARTING: 'again',
  ENGINE_BREAKER_OPEN: 'again',
  ENGINE_CRASHED: 'again',
  ENGINE_FAULT: 'again',
  ENGINE_TIMEOUT: 'again',
  ENGINE_PROTOCOL: 'again',
  OUT_OF_MEMORY: 'again',
  RUNTIME_UNAVAILABLE: 'restart',
  MODEL_UNKNOWN: 'get',
  JOB_NOT_FOUND: 'startOver',
  JOB_STATE: 'retry',
  DISK_FULL: 'resumeDownload',
  NO_NETWORK: 'resumeDownload',
  OFFLINE: 'retry',
  DOWNLOAD_STALLED: 'resumeDownload',
  DOWNLOAD_HTTP: 'resumeDownload',
  HUB_GATED_REPO: 'startOver',
  SOURCE_FILE_MISSING: 'startOver',
  PACKAGE_CLIENT_MISSING: 'startOver',
  PACKAGE_FETCH_FAILED: 'startOver',
  DOWNLOAD_HASH_MISMATCH: 'startOver',
  DOWNLOAD_SIZE_MISMATCH: 'startOver',
  DOWNLOAD_NOT_A_MODEL: 'startOver',
  DOWNLOAD_INSECURE_REDIRECT: 'startOver',
  DOWNLOAD_TOO_MANY_REDIRECTS: 'startOver',
  ARCHIVE_UNSAFE_MEMBER: 'copyDetails',
  ARCHIVE_TOO_LARGE: 'copyDetails',
  FORBIDDEN_HOST: 'reload',
  FORBIDDEN_ORIGIN: 'reload',
  UNAUTHORIZED: 'signIn',
  METHOD_NOT_ALLOWED: 'reload',
  UNSUPPORTED_MEDIA_TYPE: 'reload',
  PAYLOAD_TOO_LARGE: 'shorten',
  REQUEST_TIMEOUT: 'retry',
  NOT_READY: 'wait',
  BIND_REFUSED: 'copyDetails',
  PORT_IN_USE: 'restart',
  MIC_DENIED: 'retry',
  VOICE_BUSY: 'retry',
  VOICE_NOT_ARMED: 'turnOn',
  VOICE_LINE_UNKNOWN: 'turnOn',
  NOTHING_HEARD: 'otherMicrophone',
  ASR_FAILED: 'dismiss',
  TTS_FAILED: 'dismiss',
  VOICE_TOO_LONG: 'dismiss',
  VOICE_IDLE: 'dismiss',
  VOICE_MEMORY: 'retry',
  VOICE_PAGE_GONE: 'turnOn',
  VOICE_ACTIVITY_SPARE: 'dismiss',
  VOICE_SLOWER: 'dismiss',
  MIC_MISSING: 'retry',
  MIC_UNREADABLE: 'retry',
  MIC_SILENT: 'otherMicrophone',
  MIC_MUTED: 'unmute',
  USER_ONLY: 'reload',
  VOICE_DEVICE_CHANGED: 'dismiss',
  DEVICE_LOST: 'retry',
  VAD_UNAVAILABLE: 'openModels',
  ASR_UNAVAILABLE: 'openModels',
  TTS_UNAVAILABLE: 'openModels',
  VOICE_UNKNOWN: 'reload',
  TEXT_UNSPEAKABLE: 'shorten',
  INVALID_AUDIO: 'retry',
  AUDIO_TOO_SHORT: 'retry',
  AUDIO_FORMAT_UNSUPPORTED: 'retry',
};

/** What the engine was doing, in words that fit after "while". */
const stages: Record<string, string> = {
  load: 'loading',
  prefill: 'reading your message',
  decode: 'answering',
  tokenize: 'reading your message',
  count: 'reading your message',
  start: 'starting',
  trial: 'being tried',
  unload: 'ending',
  stop: 'ending',
  activity: 'listening',
  speak: 'speaking',
};

const devices: Record<string, string> = { input: 'microphone', output: 'loudspeaker' };

export type ErrorWords = { readonly key: ErrorKey; readonly values: Readonly<Record<string, string>>; readonly action: ErrorAction };

/**
 * The text key, the words for its figures, and the button of an error. A code that this page does not know reads as INTERNAL, with the
 * code as its number, so that it can still be reported.
 */
export function errorWords(error: Pick<WireError, 'data'> & { readonly code: string }): ErrorWords {
  const known = Object.hasOwn(codes, error.code);
  const code: ErrorCode = known ? (error.code as ErrorCode) : 'INTERNAL';
  const data = known ? error.data : { incident: error.code };
  return { key: codes[code].textKey.slice('errors.'.length) as ErrorKey, values: valuesOf(code, data), action: actionOf(code, data) };
}

/** Without a backup there is nothing to restore. */
function actionOf(code: ErrorCode, data: Readonly<Record<string, unknown>>): ErrorAction {
  return code === 'DB_DAMAGED' && typeof data['backupAt'] !== 'string' ? 'startEmpty' : errorAction[code];
}

function valuesOf(code: ErrorCode, data: Readonly<Record<string, unknown>>): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(data)) {
    if (value === null || value === undefined) values[name] = '?';
    else if (Array.isArray(value)) values[name] = value.map(String).join('; ');
    else if (typeof value === 'number') values[name] = /bytes$/i.test(name) ? bytes(value) : number(value, 1);
    else if (typeof value === 'string' || typeof value === 'boolean') values[name] = String(value);
  }
  if (typeof data['stage'] === 'string') values['stage'] = stages[data['stage']] ?? 'working';
  if (typeof data['kind'] === 'string') values['kind'] = devices[data['kind']] ?? data['kind'];
  // A browser hides the names of devices until the microphone was allowed once.
  if (data['device'] === '') values['device'] = 'the microphone';
  if (typeof data['retryAfterMs'] === 'number') values['retryAfter'] = duration(data['retryAfterMs']);
  if (code === 'DB_DAMAGED') values['backupTime'] = typeof data['backupAt'] === 'string' ? dateTime(data['backupAt']) : 'none';
  if (code === 'DOWNLOAD_SIZE_MISMATCH') {
    values['expectedSize'] = bytes(data['expected'] as number);
    values['actualSize'] = bytes(data['actual'] as number);
  }
  return values;
}
