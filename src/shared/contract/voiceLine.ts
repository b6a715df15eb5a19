import { z } from 'zod';
import { SessionId } from '../domain/ids.ts';
import { AppError } from '../errors/appError.ts';

/**
 * The voice line of a page: sound both ways, and the few words that must keep their order with it. One line per page, beside the calls
 * of the contract: a MessagePort of its own in the app, the WebSocket `/api/voice/stream` of `serve`, memory for the command line. A
 * message is a text (JSON of the two shapes below) or bytes (`util/audioWire.ts`: frames of the microphone up, chunks of speech down).
 * A message that does not parse ends the line.
 *
 * Life of a line: the runtime says `line` with an id. The page calls `voice.arm({line})`. The runtime asks for the microphone
 * (`openMic`), the page answers with `mic` states. A press is `key` up and `begin` down: from `begin` on, with the pre-roll, the page sends
 * frames until `end` and its tail are over, which it says by `ended`. Answers come as chunks of one generation, in order, then `finish`.
 * `stop` silences this generation and all before it; the page answers `stopped` with what had been heard.
 */
const U32 = z.int().min(0).max(0xffff_ffff);
const Device = z.string().max(512);

const Heard = z.strictObject({ phrase: U32, from: U32, to: U32, ms: z.number().min(0) });

export const LineUp = z.discriminatedUnion('t', [
  /** The talk key or button. `sessionId`: the chat in front, null for one that does not exist yet. Auto-repeat is never sent (VO-105). */
  z.strictObject({ t: z.literal('key'), key: z.enum(['talk', 'dictate']), down: z.boolean(), sessionId: SessionId.nullable() }),
  /**
   * The microphone. `opened`: the device is open; `live`: the first frame that is not all zeros came (VO-07); `silent`: only zeros, or
   * none (VO-06); `changed`: it was reopened (VO-10); `lost`: three tries failed; `failed`: it could not be opened, with `code`.
   */
  z.strictObject({
    t: z.literal('mic'),
    state: z.enum(['opened', 'live', 'silent', 'changed', 'lost', 'failed', 'closed']),
    device: Device,
    code: z
      .string()
      .regex(/^[A-Z_]{2,64}$/)
      .optional(),
  }),
  /** The last frame of what `begin` opened has been sent. */
  z.strictObject({ t: z.literal('ended') }),
  z.strictObject({ t: z.literal('played'), generation: U32, heard: Heard, done: z.boolean() }),
  z.strictObject({ t: z.literal('drained'), generation: U32 }),
  /** `heard`: null if nothing of it ever sounded. */
  z.strictObject({ t: z.literal('stopped'), generation: U32, heard: Heard.nullable() }),
  z.strictObject({ t: z.literal('underrun'), generation: U32 }),
  /** No loudspeaker: what is left of the answer is captions (VO-65). */
  z.strictObject({ t: z.literal('outputLost') }),
]);
export type LineUp = z.infer<typeof LineUp>;

export const LineDown = z.discriminatedUnion('t', [
  z.strictObject({ t: z.literal('line'), id: z.string() }),
  /** `device`: its name as it was chosen, null for the system's own. */
  z.strictObject({ t: z.literal('openMic'), device: Device.nullable() }),
  z.strictObject({ t: z.literal('closeMic') }),
  z.strictObject({ t: z.literal('begin'), preRollMs: z.number().min(0).max(1_000) }),
  z.strictObject({ t: z.literal('end'), tailMs: z.number().min(0).max(1_000) }),
  z.strictObject({ t: z.literal('cue'), kind: z.enum(['listening', 'off', 'failed', 'slow']) }),
  z.strictObject({ t: z.literal('finish'), generation: U32 }),
  z.strictObject({ t: z.literal('stop'), generation: U32 }),
  z.strictObject({ t: z.literal('pause') }),
  z.strictObject({ t: z.literal('resume') }),
]);
export type LineDown = z.infer<typeof LineDown>;

/** UTF-16 units of a text message; far more than any of ours. */
export const maxLineText = 4_096;

/** What carries a line. Bytes are the receiver's own. Sending on a closed one does nothing. */
export type LineWire = {
  send(data: string | Uint8Array<ArrayBuffer>): void;
  onMessage(listener: (data: unknown) => void): void;
  onClose(listener: () => void): void;
  /** @param reason  `bad` = a message that was none, `busy` = another page has the microphone, `over` = we end. */
  close(reason: 'bad' | 'busy' | 'over'): void;
};

const parsed = <T>(schema: z.ZodType<T>, text: string): T => {
  if (text.length > maxLineText) throw new AppError('INVALID_INPUT', { field: 'line', reason: 'range' });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new AppError('INVALID_INPUT', { field: 'line', reason: 'not_json' });
  }
  const result = schema.safeParse(json);
  if (!result.success) throw new AppError('INVALID_INPUT', { field: 'line', reason: 'type' });
  return result.data;
};

/** @throws AppError INVALID_INPUT */
export const parseLineUp = (text: string): LineUp => parsed(LineUp, text);
/** @throws AppError INVALID_INPUT */
export const parseLineDown = (text: string): LineDown => parsed(LineDown, text);
