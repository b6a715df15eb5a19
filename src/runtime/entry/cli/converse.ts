import { readFile, writeFile } from 'node:fs/promises';
import type { SessionId } from '../../../shared/domain/ids.ts';
import { type LatencyRecord, type LatencyStage, latencyLine } from '../../../shared/domain/voiceLatency.ts';
import type { VoiceView } from '../../../shared/domain/voiceView.ts';
import { AppError, fromWire } from '../../../shared/errors/appError.ts';
import type { Clock } from '../../../shared/util/clock.ts';
import { resample } from '../../../shared/util/resampler.ts';
import type { RuntimeClient } from '../../http/client.ts';
import { readWav, writeWav } from '../../speech/wav.ts';
import type { Command } from './args.ts';
import { createScreen } from './ask.ts';
import type { Reach } from './connect.ts';
import { createStatus, type Io, stoppable, UsageError } from './io.ts';
import { createLineCaller, type LineCaller } from './lineCaller.ts';

const RATE = 16_000;

/** Said by itself and no reason why nothing came of it. */
const remarks: readonly string[] = ['VOICE_ACTIVITY_SPARE', 'VOICE_SLOWER', 'VOICE_TOO_LONG'];

/**
 * `sotto converse`: a spoken question out of a file, the spoken answer into another, by the whole way that a person at a page has: key,
 * recogniser, chat, voice. Ctrl-C stops; nothing is written then.
 */
export async function converseCommand(
  command: Extract<Command, { name: 'converse' }>,
  { client, openLine }: Reach,
  io: Io,
  clock: Clock,
): Promise<number> {
  const { json } = command.common;
  const sound = await readQuestion(command.file, io);
  return stoppable(io, async (signal) => {
    const caller = createLineCaller({ wire: await openLine(), clock });
    // What reads along ends with us, however we end.
    const reading = new AbortController();
    try {
      const heard = await converse({ client, caller, sound, io, json, stop: signal, reading: reading.signal });
      await writeFile(command.out, writeWav(heard.samples, heard.rateHz)).catch(() => {
        throw new UsageError('The file could not be written.');
      });
      const { question, answer, latency } = heard;
      const seconds = heard.samples.length / heard.rateHz;
      if (json) io.out(`${JSON.stringify({ question, answer, seconds, latency: latency === null ? null : latencyOf(latency) })}\n`);
      else io.err(`${seconds.toFixed(1)} seconds of speech are in the file.\n${latency === null ? '' : latencyText(latency)}`);
      return 0;
    } finally {
      reading.abort();
      caller.close();
    }
  });
}

async function readQuestion(file: string, io: Io): Promise<Float32Array<ArrayBuffer>> {
  const bytes = await readFile(file).catch(() => {
    throw new UsageError('The file could not be read.');
  });
  const { samples, sampleRate, repaired } = readWav(bytes);
  if (repaired > 0) io.err(`Warning: ${repaired} samples are no numbers and were taken as silence.\n`);
  return resample(samples, sampleRate, RATE);
}

type Conversed = {
  readonly question: string;
  readonly answer: string;
  readonly samples: Float32Array<ArrayBuffer>;
  readonly rateHz: number;
  readonly latency: LatencyRecord | null;
};

type Talk = {
  readonly client: RuntimeClient;
  readonly caller: LineCaller;
  readonly sound: Float32Array;
  readonly io: Io;
  readonly json: boolean;
  /** A person's Ctrl-C. */
  readonly stop: AbortSignal;
  readonly reading: AbortSignal;
};

/** One press, one answer. @throws AppError why there is none. */
async function converse(talk: Talk): Promise<Conversed> {
  const { client, caller, sound, io, json, stop, reading } = talk;
  const status = createStatus(io, json);
  const stopped = new Promise<never>((_resolve, reject) => {
    const no = () => reject(new AppError('CANCELLED'));
    if (stop.aborted) no();
    else stop.addEventListener('abort', no, { once: true });
  });
  const line = await Promise.race([caller.id, stopped]);
  const views = await client.voice.phase({}, { signal: reading });
  status('loading what listens and speaks');
  const arming = client.voice.arm({ line, mode: 'push-to-talk' });
  let isArmed = false;
  try {
    const before = await Promise.race([arming, stopped]);
    isArmed = true;
    // Without a voice there is nothing to write into the file (VO-64).
    if (before.notice?.code === 'TTS_UNAVAILABLE') throw faultOf(before.notice);
    status('listening');
    const answered = follow(talk, views, before, status);
    const said = caller.say(sound);
    // Whichever fails first tells why; the others end with the line.
    answered.catch(() => {});
    said.catch(() => {});
    const { view, question, answer } = await Promise.race([answered, said.then(() => answered), stopped]);
    const spoken = caller.spoken();
    if (spoken === null) throw noticeOf(view, before) ?? new AppError('TEXT_UNSPEAKABLE');
    const latency = view.latency?.turnId === view.turnId ? view.latency : null;
    return { question, answer, samples: spoken.samples, rateHz: spoken.rateHz, latency };
  } finally {
    status('');
    arming.catch(() => {});
    // Before the line is closed: from a page that is gone an answer goes on in writing.
    if (isArmed && stop.aborted) await client.voice.cancel({}).catch(() => {});
    if (isArmed) await client.voice.disarm({}).catch(() => {});
  }
}

/** Reads along until voice is at rest again. */
async function follow(
  talk: Talk,
  views: AsyncIterable<{ value: VoiceView }>,
  before: VoiceView,
  status: (text: string) => void,
): Promise<{ view: VoiceView; question: string; answer: string }> {
  let began = false;
  let question = '';
  let answer: Promise<string> | null = null;
  for await (const { value: view } of views) {
    if (view.phase !== 'standby' && view.phase !== 'arming') began ||= view.line === before.line;
    const isOurs = view.turnId !== null && view.turnId !== before.turnId;
    if (isOurs || noticeOf(view, before) !== null) began = true;
    if (view.caption !== null && view.caption.utterance !== before.caption?.utterance && !isOurs) status(`heard: ${view.caption.text}`);
    if (isOurs && answer === null && view.sessionId !== null) {
      question = view.caption?.text ?? '';
      status('');
      if (!talk.json) talk.io.err(`Heard: ${question}\n`);
      answer = readAnswer(talk, view.sessionId);
      answer.catch(() => {});
    }
    if (!began || (view.phase !== 'standby' && view.phase !== 'off' && view.phase !== 'failed')) continue;
    if (answer === null)
      throw (
        noticeOf(view, before) ?? (view.fault === null ? new AppError('NOTHING_HEARD', { device: '', level: null }) : faultOf(view.fault))
      );
    return { view, question, answer: await answer };
  }
  throw new AppError('RUNTIME_UNAVAILABLE');
}

/** The written answer, shown as it comes. @throws AppError why the turn failed; CANCELLED. */
async function readAnswer({ client, io, json, reading }: Talk, sessionId: SessionId): Promise<string> {
  const screen = createScreen(io, json ? 'nothing' : 'text');
  for await (const item of await client.events.watch({ sessionId, after: 0 }, { signal: reading })) {
    const end = screen.take(item);
    if (end === null) continue;
    if (end.code !== 0) throw new AppError('CANCELLED');
    return end.text;
  }
  throw new AppError('RUNTIME_UNAVAILABLE');
}

const faultOf = ({ code, data }: { code: string; data: Readonly<Record<string, unknown>> }): AppError =>
  fromWire({ code, message: '', data });

/** Why nothing came of the press, if voice has said so since. */
function noticeOf(view: VoiceView, before: VoiceView): AppError | null {
  const { notice } = view;
  return notice === null || notice.id === before.notice?.id || remarks.includes(notice.code) ? null : faultOf(notice);
}

const stageWords: Readonly<Record<LatencyStage, string>> = {
  endDecided: 'end of speech',
  asrFinal: 'final words',
  committed: 'message stored',
  contextReady: 'context',
  firstToken: 'first token',
  firstPhrase: 'first phrase',
  firstAudioMade: 'voice made',
  firstAudioPlayed: 'first sound',
};

/** "0.9 s to first sound; slowest: first token" (UX-117). */
function latencyText(record: LatencyRecord): string {
  const { toSoundMs, slowest } = latencyLine(record);
  if (toSoundMs === null) return '';
  return `${(toSoundMs / 1000).toFixed(1)} s to first sound${slowest === null ? '' : `; slowest: ${stageWords[slowest]}`}\n`;
}

/** The same as data, ms, with all marks. */
const latencyOf = (record: LatencyRecord) => ({ ...latencyLine(record), marks: record.marks });
